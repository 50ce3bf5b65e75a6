-------------------------- MODULE Kip320Liveness --------------------------
(* What model/ladder/kip320.py says, in TLA+, with the same fairness and a   *)
(* liveness property of properties/ladder/liveness.py: for a comparison of   *)
(* verdicts, states, seconds and memory with TLC. See docs/performance.md.   *)
(* What a row of a table leaves blank there is not in a sequence here.       *)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS Replicas, LogSize, MaxRecords, MaxEpoch, None

VARIABLES log, hw, epoch, leader, isr, quorum, requests, records
vars == <<log, hw, epoch, leader, isr, quorum, requests, records>>

NoEpoch == -1
Epochs == 0..MaxEpoch
Request(e) == requests[e + 1]
Sent(e) == e < Len(requests)
End(r) == Len(log[r])
Has(r, offset) == offset < End(r)
Entry(r, offset) == log[r][offset + 1]

Presumes(r) == leader[r] = r
TrueLeader(r) == quorum.leader = r /\ Presumes(r) /\ epoch[r] = quorum.epoch
FollowsInEpoch(f, l) == Presumes(l) /\ leader[f] = l /\ epoch[f] = epoch[l]

HighWatermarkHasReachedEpoch(l) ==
    \/ hw[l] = End(l)
    \/ Has(l, hw[l]) /\ Entry(l, hw[l]).epoch = epoch[l]

Same(a, b, offset) == Has(a, offset) /\ Has(b, offset) /\ Entry(a, offset) = Entry(b, offset)
EndOfAgreement(a, b) ==
    LET ends == {0} \cup {o + 1 : o \in {x \in 0..(LogSize - 1) : Same(a, b, x)}}
    IN CHOOSE e \in ends : \A other \in ends : other <= e

Min(a, b) == IF a < b THEN a ELSE b

Init ==
    /\ log = [r \in Replicas |-> <<>>]
    /\ hw = [r \in Replicas |-> 0]
    /\ epoch = [r \in Replicas |-> NoEpoch]
    /\ leader = [r \in Replicas |-> None]
    /\ isr = [r \in Replicas |-> {}]
    /\ quorum = [epoch |-> NoEpoch, leader |-> None, isr |-> Replicas]
    /\ requests = <<>>
    /\ records = 0

Send(l, members) ==
    /\ Len(requests) <= MaxEpoch
    /\ quorum' = [epoch |-> Len(requests), leader |-> l, isr |-> members]
    /\ requests' = Append(requests, [leader |-> l, isr |-> members])
    /\ UNCHANGED <<log, hw, epoch, leader, isr, records>>

ControllerElectLeader(l) ==
    /\ l \in quorum.isr
    /\ quorum.leader # l
    /\ Send(l, quorum.isr)

ControllerShrinkIsr(r) ==
    LET leads == quorum.leader = r
        alone == quorum.isr = {r}
    IN /\ leads \/ r \in quorum.isr
       /\ Send(IF leads THEN None ELSE quorum.leader,
               IF leads /\ alone THEN quorum.isr ELSE quorum.isr \ {r})

Adopt(r, e) ==
    /\ epoch' = [epoch EXCEPT ![r] = e]
    /\ leader' = [leader EXCEPT ![r] = Request(e).leader]
    /\ isr' = [isr EXCEPT ![r] = Request(e).isr]

BecomeLeader(l, e) ==
    /\ Sent(e)
    /\ Request(e).leader = l
    /\ e > epoch[l]
    /\ Adopt(l, e)
    /\ UNCHANGED <<log, hw, quorum, requests, records>>

BecomeFollower(f, l, e) ==
    /\ f # l
    /\ Sent(e)
    /\ Request(e).leader = l
    /\ e > epoch[f]
    /\ Presumes(l)
    /\ epoch[l] = e
    /\ LET end == EndOfAgreement(f, l)
       IN /\ log' = [log EXCEPT ![f] = SubSeq(@, 1, end)]
          /\ hw' = [hw EXCEPT ![f] = Min(@, end)]
    /\ Adopt(f, e)
    /\ UNCHANGED <<quorum, requests, records>>

UpdateIsr(l, members) ==
    /\ quorum' = [quorum EXCEPT !.isr = members]
    /\ isr' = [isr EXCEPT ![l] = members]
    /\ UNCHANGED <<log, hw, epoch, leader, requests, records>>

LeaderExpandIsr(l, f) ==
    /\ TrueLeader(l)
    /\ f \notin isr[l]
    /\ FollowsInEpoch(f, l)
    /\ End(f) >= hw[l]
    /\ HighWatermarkHasReachedEpoch(l)
    /\ UpdateIsr(l, isr[l] \cup {f})

LeaderShrinkIsr(l, f) ==
    /\ TrueLeader(l)
    /\ f \in isr[l]
    /\ f # l
    /\ ~FollowsInEpoch(f, l) \/ End(f) < End(l)
    /\ UpdateIsr(l, isr[l] \ {f})

LeaderWrite(l) ==
    /\ Presumes(l)
    /\ records < MaxRecords
    /\ End(l) < LogSize
    /\ log' = [log EXCEPT ![l] = Append(@, [id |-> records, epoch |-> epoch[l]])]
    /\ records' = records + 1
    /\ UNCHANGED <<hw, epoch, leader, isr, quorum, requests>>

LeaderAdvanceHighWatermark(l) ==
    /\ Presumes(l)
    /\ Has(l, hw[l])
    /\ \A m \in isr[l] : FollowsInEpoch(m, l) /\ Has(m, hw[l])
    /\ hw' = [hw EXCEPT ![l] = @ + 1]
    /\ UNCHANGED <<log, epoch, leader, isr, quorum, requests, records>>

FollowerReplicate(f, l) ==
    /\ FollowsInEpoch(f, l)
    /\ Has(l, End(f))
    /\ hw' = [hw EXCEPT ![f] = Min(hw[l], End(f) + 1)]
    /\ log' = [log EXCEPT ![f] = Append(@, Entry(l, End(f)))]
    /\ UNCHANGED <<epoch, leader, isr, quorum, requests, records>>

Next ==
    \E r \in Replicas :
        \/ ControllerElectLeader(r)
        \/ ControllerShrinkIsr(r)
        \/ LeaderWrite(r)
        \/ LeaderAdvanceHighWatermark(r)
        \/ \E e \in Epochs : BecomeLeader(r, e)
        \/ \E other \in Replicas :
            \/ LeaderExpandIsr(r, other)
            \/ LeaderShrinkIsr(r, other)
            \/ FollowerReplicate(r, other)
            \/ \E e \in Epochs : BecomeFollower(r, other, e)

Adopts(e) == \E r \in Replicas :
    BecomeLeader(r, e) \/ \E l \in Replicas : BecomeFollower(r, l, e)

Fairness ==
    /\ \A e \in Epochs : WF_vars(Adopts(e))
    /\ \A l \in Replicas : WF_vars(LeaderAdvanceHighWatermark(l))
    /\ \A l, f \in Replicas : WF_vars(LeaderExpandIsr(l, f))
    /\ \A l, f \in Replicas : WF_vars(FollowerReplicate(f, l))

Spec == Init /\ [][Next]_vars /\ Fairness

HoldsAnUncommittedRecord(l) == TrueLeader(l) /\ hw[l] < End(l)
RecordsCommit == \A l \in Replicas :
    HoldsAnUncommittedRecord(l) ~> ~HoldsAnUncommittedRecord(l)
=============================================================================
