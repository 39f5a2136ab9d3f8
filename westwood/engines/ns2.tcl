# SPDX-License-Identifier: BSD-3-Clause
#
# What `--engine ns2` asks of ns-2 2.35: words for a network and its flows, which ns2.py says, and at the end a
# line of numbers for each flow and each direction of a link, under the names of engine/columns.hpp.

set ns [new Simulator]
set nothing [$ns set nullAgent_]
set ways {}  ;# the directions of links: ends, monitor, what counts the packets lost, rate
set flows {} ;# the agents of each flow

proc nodes {count} {
    global ns node
    for {set i 0} {$i < $count} {incr i} { set node($i) [$ns node] }
}

# Counts what comes to it by the flow that it belongs to: its data has 2 i for an id, its ACKs 2 i + 1.
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

# Counts what passes from one object to the next with a snoop of this kind: its integrator's lastx_ is when the last
# packet did.
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

# A direction of a link, whose queue holds so many packets beside the one that is being sent.
proc way {a b bps delay_s limit red flows} {
    global ns node ways
    set kind [expr {[llength $red] ? "RED" : "DropTail"}]
    $ns simplex-link $node($a) $node($b) $bps $delay_s $kind
    set link [$ns link $node($a) $node($b)]
    set queue [$link queue]
    # DropTail refuses the packet that would make the queue as long as its limit.
    $queue set limit_ [expr {$kind eq "RED" ? $limit : $limit + 1}]
    foreach {name value} $red { $queue set ${name}_ $value }
    set monitor [$ns monitor-queue $node($a) $node($b) ""]
    set drops [counter [expr {2 * $flows}]]
    [$link set snoopDrop_] target $drops
    set out [$link set snoopOut_]
    lappend ways [list $monitor $drops "" $bps [passing Out "$out target" [$out target]]]
}

# The direction loses packets at its far end, as this model says.
proc loses {model a b flows} {
    global ns node ways
    $ns link-lossmodel $model $node($a) $node($b)
    set lost [counter [expr {2 * $flows}]]
    $model drop-target $lost
    lset ways end 2 $lost
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

# `select` names one of Linux's controls, which an agent TCP/Linux has.
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

# Windows and times have no sum in ns-2: they are looked at so often.
set every_s 0.05
proc watch {number} {
    global ns flows every_s looks cwnds srtts timed
    set source [lindex [lindex $flows $number] 0]
    foreach sum {looks cwnds srtts timed} {
        if {![info exists ${sum}($number)]} { set ${sum}($number) 0 }
    }
    incr looks($number)
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
    global ns ways flows completed
    set number 0
    foreach one $flows {
        foreach {source sink start_s arriving} $one {}
        set arrived [$arriving set parrivals_]
        set last_s [expr {$arrived > 0 ? [[$arriving get-pkts-integrator] set lastx_] : "nan"}]
        set drops 0
        set lost 0
        foreach way $ways {
            incr drops [counted [lindex $way 1] [expr {2 * $number}]]
            if {[lindex $way 2] ne ""} { incr lost [counted [lindex $way 2] [expr {2 * $number}]] }
        }
        set done nan
        if {[info exists completed($source)]} { set done $completed($source) }
        puts "flow in_order [$sink set bytes_] sent [$source set ndatapack_]\
            retransmitted [$source set nrexmitpack_] timeouts [$source set nrexmit_]\
            reductions [$source set ncwndcuts_] queue_drops $drops lost $lost\
            mean_cwnd [mean cwnds looks $number] mean_srtt_s [mean srtts timed $number]\
            start_s $start_s completed_s $done arrived $arrived last_arrival_s $last_s"
        incr number
    }
    foreach way $ways {
        foreach {monitor drops lost bps leaving} $way {}
        set waited [$monitor get-pkts-integrator]
        $waited newpoint $duration_s [$waited set lasty_]
        set missing 0
        if {$lost ne ""} {
            for {set i 0} {$i < 2 * [llength $flows]} {incr i} { incr missing [counted $lost $i] }
        }
        puts "way packets [expr {[$monitor set parrivals_] - [$monitor set pdrops_]}]\
            bytes [expr {[$monitor set barrivals_] - [$monitor set bdrops_]}]\
            queue_drops [$monitor set pdrops_] lost $missing waited_s [$waited set sum_]\
            sent_bytes [$monitor set bdepartures_] bps $bps\
            last_departure_s [[$leaving get-pkts-integrator] set lastx_]"
    }
    puts end
    exit 0
}
