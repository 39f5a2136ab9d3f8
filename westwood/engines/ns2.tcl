# SPDX-License-Identifier: BSD-3-Clause
#
# Commands for the scripts that ns2.py writes for ns-2 2.35. They build a network and its flows. At the end they print
# the counters of each flow and each direction of a link, under the names of engine/columns.hpp.

set ns [new Simulator]
set nothing [$ns set nullAgent_]
set directions {} ;# of links: queue monitor, counters of drops and losses, rate, departures
set flows {}      ;# source, sink, start and arrivals of each flow

proc nodes {count} {
    global ns node
    for {set i 0} {$i < $count} {incr i} { set node($i) [$ns node] }
}

# Counts packets by flow id: flow i has 2 i for its data and 2 i + 1 for its ACKs.
proc counter {count} {
    global nothing
    set counter [new Classifier/Hash/Fid 31]
    for {set i 0} {$i < $count} {incr i} {
        set heard [new Agent/LossMonitor]
        $counter install $i $heard
        $counter set-hash auto 0 0 $i $i
    }
    $counter install $count $nothing
    $counter set default_ $count
    return $counter
}

# Counts packets between two objects with a snoop queue of this kind; its integrator's lastx_ is the time of the last
# packet.
proc passing {kind from to} {
    set monitor [new QueueMonitor]
    $monitor set-pkts-integrator [new Integrator]
    set snoop [new SnoopQueue/$kind]
    $snoop set-monitor $monitor
    $snoop target $to
    eval $from $snoop
    return $monitor
}
proc counted {counter id} { return [[$counter slot $id] set npkts_] }

# Makes a direction of a link; its limit does not count the packet being sent.
proc direction {a b bps delay_s limit red flows} {
    global ns node directions
    set kind [expr {[llength $red] ? "RED" : "DropTail"}]
    $ns simplex-link $node($a) $node($b) $bps $delay_s $kind
    set link [$ns link $node($a) $node($b)]
    set queue [$link queue]
    # DropTail drops the packet that would make the queue as long as its limit.
    $queue set limit_ [expr {$kind eq "RED" ? $limit : $limit + 1}]
    foreach {name value} $red { $queue set ${name}_ $value }
    set monitor [$ns monitor-queue $node($a) $node($b) ""]
    set drops [counter [expr {2 * $flows}]]
    [$link set snoopDrop_] target $drops
    set out [$link set snoopOut_]
    lappend directions [list $monitor $drops "" $bps [passing Out "$out target" [$out target]]]
}

# Makes the last direction lose packets at its far end, by this error model.
proc loses {model a b flows} {
    global ns node directions
    $ns link-lossmodel $model $node($a) $node($b)
    set lost [counter [expr {2 * $flows}]]
    $model drop-target $lost
    lset directions end 2 $lost
}
proc uniform {rate} {
    set model [new ErrorModel]
    $model unit pkt
    $model set rate_ $rate
    $model ranvar [new RandomVariable/Uniform]
    return $model
}
proc scripted {numbers} {
    set model [new ErrorModel/List]
    $model unit pkt
    $model droplist $numbers
    return $model
}

# Makes a flow; `select` is the Linux control of an agent TCP/Linux.
proc flow {class sink a b start_s size settings sinks select} {
    global ns node flows
    set number [llength $flows]
    set source [new Agent/$class]
    foreach {name value} $settings { $source set ${name}_ $value }
    set sink [new Agent/$sink]
    foreach {name value} $sinks { $sink set ${name}_ $value }
    $source set fid_ [expr {2 * $number}]
    $sink set fid_ [expr {2 * $number + 1}]
    $ns attach-agent $node($a) $source
    $ns attach-agent $node($b) $sink
    $ns connect $source $sink
    set arriving [passing In "[$node($b) demux] install [$sink set agent_port_]" $sink]
    lappend flows [list $source $sink $start_s $arriving]
    if {$select ne ""} { $ns at 0 "$source select_ca $select" }
    $ns at $start_s "$source send $size; watch $number"
}

# Samples windows and round trips, since ns-2 keeps no sums of them.
set every_s 0.05
proc watch {number} {
    global ns flows every_s samples cwnds srtts timed
    set source [lindex [lindex $flows $number] 0]
    foreach sum {samples cwnds srtts timed} {
        if {![info exists ${sum}($number)]} { set ${sum}($number) 0 }
    }
    incr samples($number)
    set cwnds($number) [expr {$cwnds($number) + [$source set cwnd_]}]
    set srtt [$source set srtt_]
    if {$srtt > 0} {
        incr timed($number)
        set srtts($number) [expr {$srtts($number) + ($srtt >> [$source set T_SRTT_BITS]) * [$source set tcpTick_]}]
    }
    $ns after $every_s "watch $number"
}
Agent/TCP instproc done {} {
    global ns completed
    set completed($self) [$ns now]
}

proc mean {sums counts number} {
    upvar #0 $sums sum $counts count
    if {![info exists count($number)] || $count($number) == 0} { return nan }
    return [expr {double($sum($number)) / $count($number)}]
}

proc report {duration_s} {
    global ns directions flows completed
    set number 0
    foreach one $flows {
        foreach {source sink start_s arriving} $one {}
        set arrived [$arriving set parrivals_]
        set last_s [expr {$arrived > 0 ? [[$arriving get-pkts-integrator] set lastx_] : "nan"}]
        set drops 0
        set lost 0
        foreach direction $directions {
            incr drops [counted [lindex $direction 1] [expr {2 * $number}]]
            set losses [lindex $direction 2]
            if {$losses ne ""} { incr lost [counted $losses [expr {2 * $number}]] }
        }
        set done nan
        if {[info exists completed($source)]} { set done $completed($source) }
        puts "flow in_order [$sink set bytes_] sent [$source set ndatapack_]\
            retransmitted [$source set nrexmitpack_] timeouts [$source set nrexmit_]\
            reductions [$source set ncwndcuts_] queue_drops $drops lost $lost\
            mean_cwnd [mean cwnds samples $number] mean_srtt_s [mean srtts timed $number]\
            start_s $start_s completed_s $done arrived $arrived last_arrival_s $last_s"
        incr number
    }
    foreach direction $directions {
        foreach {monitor drops lost bps leaving} $direction {}
        set waited [$monitor get-pkts-integrator]
        $waited newpoint $duration_s [$waited set lasty_]
        set missing 0
        if {$lost ne ""} {
            for {set i 0} {$i < 2 * [llength $flows]} {incr i} { incr missing [counted $lost $i] }
        }
        puts "direction packets [expr {[$monitor set parrivals_] - [$monitor set pdrops_]}]\
            bytes [expr {[$monitor set barrivals_] - [$monitor set bdrops_]}]\
            queue_drops [$monitor set pdrops_] lost $missing waited_s [$waited set sum_]\
            sent_bytes [$monitor set bdepartures_] bps $bps\
            last_departure_s [[$leaving get-pkts-integrator] set lastx_]"
    }
    puts end
    exit 0
}
