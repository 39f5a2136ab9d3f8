/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Shows that this module has none of mainline's defects. Each check must also fail on mainline's
 * Westwood+, if this ns-3 has one. If a release fixes a defect, that case fails: then update the
 * documentation and remove the case.
 */
#include "ww-checks.h"

using namespace ns3;

/** \brief A check of one of the two implementations. */
class WwCheckTestCase : public TestCase
{
  public:
    WwCheckTestCase(const WwCheck& check, const WwSubject& subject, bool holds)
        : TestCase(subject.name + (holds ? ": " : " violates: ") + check.clause),
          m_check(check),
          m_subject(subject),
          m_holds(holds)
    {
    }

  private:
    void DoRun() override
    {
        const WwVerdict verdict = m_check.run(m_subject);
        NS_TEST_EXPECT_MSG_EQ(verdict.holds, m_holds, verdict.seen);
    }

    WwCheck m_check;     //!< the check
    WwSubject m_subject; //!< the implementation
    bool m_holds;        //!< whether it must pass
};

/** \brief The suite. */
class WwChecksTestSuite : public TestSuite
{
  public:
    WwChecksTestSuite()
        : TestSuite("ww-checks", Type::SYSTEM)
    {
    }

  private:
    void DoSetup() override // not in the constructor: other files' TypeIds may not exist yet
    {
        for (const WwCheck& check : WwChecks())
        {
            AddTestCase(new WwCheckTestCase(check, WwSubject::Ours(), true));
            if (const auto mainline = WwSubject::Mainline())
            {
                AddTestCase(new WwCheckTestCase(check, *mainline, false));
            }
        }
    }
};

static WwChecksTestSuite g_wwChecksTestSuite; //!< registers itself
