//! What `model/ladder/kip320.py` says, for Stateright: the same states, steps and two properties.
//!
//! Each function below is the action of that name there. Three replicas; the sizes of the other
//! bounds are compiled in, so that a state is no larger than it has to be.

use stateright::{Checker, Model, Property};

const REPLICAS: usize = 3;
const EVERYBODY: u8 = (1 << REPLICAS) - 1;
const NOBODY: i8 = -1;
const NO_EPOCH: i8 = -1;

/// One replica: its log of at most `L` entries, its high watermark, and what it heard of the leader.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Replica<const L: usize> {
    log: [(u8, i8); L], // record id and leader epoch
    end: u8,
    high_watermark: u8,
    leader_epoch: i8,
    leader: i8,
    isr: u8,
}

/// The whole state, with room for the requests of `E` epochs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Cluster<const L: usize, const E: usize> {
    replicas: [Replica<L>; REPLICAS],
    quorum_epoch: i8,
    quorum_leader: i8,
    quorum_isr: u8,
    requests: [(i8, u8); E], // leader and ISR of each epoch
    next_record: u8,
    next_epoch: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Step {
    ControllerElectLeader(usize),
    ControllerShrinkIsr(usize),
    BecomeLeader(usize, usize),
    LeaderExpandIsr(usize, usize),
    LeaderShrinkIsr(usize, usize),
    LeaderWrite(usize),
    LeaderAdvanceHighWatermark(usize),
    BecomeFollower(usize, usize, usize),
    FollowerReplicate(usize, usize),
}

struct Kip320<const L: usize, const E: usize> {
    records: u8,
}

fn has(set: u8, member: usize) -> bool {
    set >> member & 1 == 1
}

impl<const L: usize> Replica<L> {
    fn holds(&self, offset: usize) -> bool {
        offset < self.end as usize
    }

    fn same_entry(&self, other: &Self, offset: usize) -> bool {
        self.holds(offset) && other.holds(offset) && self.log[offset] == other.log[offset]
    }

    fn end_of_agreement(&self, other: &Self) -> u8 {
        (0..L).filter(|&o| self.same_entry(other, o)).map(|o| o as u8 + 1).max().unwrap_or(0)
    }

    fn truncate_to(&mut self, end: u8) {
        self.high_watermark = self.high_watermark.min(end);
        for entry in &mut self.log[end as usize..] {
            *entry = (0, 0);
        }
        self.end = end;
    }

    fn append(&mut self, entry: (u8, i8)) {
        self.log[self.end as usize] = entry;
        self.end += 1;
    }

    fn high_watermark_has_reached_epoch(&self) -> bool {
        let offset = self.high_watermark as usize;
        self.high_watermark == self.end
            || self.holds(offset) && self.log[offset].1 == self.leader_epoch
    }
}

impl<const L: usize, const E: usize> Cluster<L, E> {
    fn presumes(&self, replica: usize) -> bool {
        self.replicas[replica].leader == replica as i8
    }

    fn is_true_leader(&self, replica: usize) -> bool {
        self.quorum_leader == replica as i8
            && self.presumes(replica)
            && self.replicas[replica].leader_epoch == self.quorum_epoch
    }

    fn follows_in_epoch(&self, follower: usize, leader: usize) -> bool {
        self.presumes(leader)
            && self.replicas[follower].leader == leader as i8
            && self.replicas[follower].leader_epoch == self.replicas[leader].leader_epoch
    }

    fn send_request(&mut self, leader: i8, isr: u8) {
        self.requests[self.next_epoch as usize] = (leader, isr);
        self.quorum_epoch = self.next_epoch as i8;
        self.quorum_leader = leader;
        self.quorum_isr = isr;
        self.next_epoch += 1;
    }

    fn adopt(&mut self, replica: usize, leader: usize, epoch: usize) {
        self.replicas[replica].leader_epoch = epoch as i8;
        self.replicas[replica].leader = leader as i8;
        self.replicas[replica].isr = self.requests[epoch].1;
    }

    /// Whether a step is enabled.
    fn enables(&self, step: Step, records: u8) -> bool {
        match step {
            Step::ControllerElectLeader(leader) => {
                (self.next_epoch as usize) < E
                    && has(self.quorum_isr, leader)
                    && self.quorum_leader != leader as i8
            }
            Step::ControllerShrinkIsr(replica) => {
                (self.next_epoch as usize) < E
                    && (self.quorum_leader == replica as i8 || has(self.quorum_isr, replica))
            }
            Step::BecomeLeader(leader, epoch) => {
                epoch < self.next_epoch as usize
                    && self.requests[epoch].0 == leader as i8
                    && epoch as i8 > self.replicas[leader].leader_epoch
            }
            Step::LeaderExpandIsr(leader, follower) => {
                self.is_true_leader(leader)
                    && !has(self.replicas[leader].isr, follower)
                    && self.follows_in_epoch(follower, leader)
                    && self.replicas[follower].end >= self.replicas[leader].high_watermark
                    && self.replicas[leader].high_watermark_has_reached_epoch()
            }
            Step::LeaderShrinkIsr(leader, follower) => {
                self.is_true_leader(leader)
                    && has(self.replicas[leader].isr, follower)
                    && follower != leader
                    && (!self.follows_in_epoch(follower, leader)
                        || self.replicas[follower].end < self.replicas[leader].end)
            }
            Step::LeaderWrite(leader) => {
                self.presumes(leader)
                    && self.next_record < records
                    && (self.replicas[leader].end as usize) < L
            }
            Step::LeaderAdvanceHighWatermark(leader) => {
                let offset = self.replicas[leader].high_watermark as usize;
                self.presumes(leader)
                    && self.replicas[leader].holds(offset)
                    && (0..REPLICAS).filter(|&m| has(self.replicas[leader].isr, m)).all(|m| {
                        self.follows_in_epoch(m, leader) && self.replicas[m].holds(offset)
                    })
            }
            Step::BecomeFollower(follower, leader, epoch) => {
                follower != leader
                    && epoch < self.next_epoch as usize
                    && self.requests[epoch].0 == leader as i8
                    && epoch as i8 > self.replicas[follower].leader_epoch
                    && self.presumes(leader)
                    && self.replicas[leader].leader_epoch == epoch as i8
            }
            Step::FollowerReplicate(follower, leader) => {
                self.presumes(leader)
                    && self.follows_in_epoch(follower, leader)
                    && self.replicas[leader].holds(self.replicas[follower].end as usize)
            }
        }
    }

    /// Takes a step that is enabled.
    fn take(&mut self, step: Step) {
        match step {
            Step::ControllerElectLeader(leader) => self.send_request(leader as i8, self.quorum_isr),
            Step::ControllerShrinkIsr(replica) => {
                let leads = self.quorum_leader == replica as i8;
                let alone = self.quorum_isr == 1 << replica;
                let without = self.quorum_isr & !(1 << replica);
                self.send_request(
                    if leads { NOBODY } else { self.quorum_leader },
                    if leads && alone { self.quorum_isr } else { without },
                );
            }
            Step::BecomeLeader(leader, epoch) => self.adopt(leader, leader, epoch),
            Step::LeaderExpandIsr(leader, follower) => {
                self.replicas[leader].isr |= 1 << follower;
                self.quorum_isr = self.replicas[leader].isr;
            }
            Step::LeaderShrinkIsr(leader, follower) => {
                self.replicas[leader].isr &= !(1 << follower);
                self.quorum_isr = self.replicas[leader].isr;
            }
            Step::LeaderWrite(leader) => {
                let entry = (self.next_record, self.replicas[leader].leader_epoch);
                self.replicas[leader].append(entry);
                self.next_record += 1;
            }
            Step::LeaderAdvanceHighWatermark(leader) => self.replicas[leader].high_watermark += 1,
            Step::BecomeFollower(follower, leader, epoch) => {
                let end = self.replicas[follower].end_of_agreement(&self.replicas[leader]);
                self.adopt(follower, leader, epoch);
                self.replicas[follower].truncate_to(end);
            }
            Step::FollowerReplicate(follower, leader) => {
                let offset = self.replicas[follower].end;
                let entry = self.replicas[leader].log[offset as usize];
                let committed = self.replicas[leader].high_watermark;
                self.replicas[follower].high_watermark = committed.min(offset + 1);
                self.replicas[follower].append(entry);
            }
        }
    }

    /// Below its high watermark, each presumed leader agrees with the members of an ISR of its own.
    fn agrees_with(&self, isr: impl Fn(&Replica<L>) -> u8) -> bool {
        (0..REPLICAS).filter(|&leader| self.presumes(leader)).all(|leader| {
            let leads = &self.replicas[leader];
            (0..REPLICAS).filter(|&member| has(isr(leads), member)).all(|member| {
                (0..leads.high_watermark as usize)
                    .all(|offset| leads.same_entry(&self.replicas[member], offset))
            })
        })
    }
}

impl<const L: usize, const E: usize> Model for Kip320<L, E> {
    type State = Cluster<L, E>;
    type Action = Step;

    fn init_states(&self) -> Vec<Self::State> {
        let replica = Replica {
            log: [(0, 0); L],
            end: 0,
            high_watermark: 0,
            leader_epoch: NO_EPOCH,
            leader: NOBODY,
            isr: 0,
        };
        vec![Cluster {
            replicas: std::array::from_fn(|_| replica.clone()),
            quorum_epoch: NO_EPOCH,
            quorum_leader: NOBODY,
            quorum_isr: EVERYBODY,
            requests: [(NOBODY, 0); E],
            next_record: 0,
            next_epoch: 0,
        }]
    }

    fn actions(&self, state: &Self::State, actions: &mut Vec<Step>) {
        let mut offer = |step| {
            if state.enables(step, self.records) {
                actions.push(step);
            }
        };
        for a in 0..REPLICAS {
            offer(Step::ControllerElectLeader(a));
            offer(Step::ControllerShrinkIsr(a));
            offer(Step::LeaderWrite(a));
            offer(Step::LeaderAdvanceHighWatermark(a));
            for epoch in 0..E {
                offer(Step::BecomeLeader(a, epoch));
            }
            for b in 0..REPLICAS {
                offer(Step::LeaderExpandIsr(a, b));
                offer(Step::LeaderShrinkIsr(a, b));
                offer(Step::FollowerReplicate(a, b));
                for epoch in 0..E {
                    offer(Step::BecomeFollower(a, b, epoch));
                }
            }
        }
    }

    fn next_state(&self, state: &Self::State, step: Step) -> Option<Self::State> {
        let mut after = state.clone();
        after.take(step);
        Some(after)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("weak_isr", |_, s: &Cluster<L, E>| s.agrees_with(|leader| leader.isr)),
            Property::always("strong_isr", |_, s: &Cluster<L, E>| {
                s.agrees_with(|_| s.quorum_isr)
            }),
        ]
    }
}

/// Searches breadth first, and prints what was counted and which properties are violated.
fn check<const L: usize, const E: usize>(records: u8, threads: usize) {
    let checker = Kip320::<L, E> { records }.checker().threads(threads).spawn_bfs().join();
    let violated: Vec<_> = checker.discoveries().into_keys().collect();
    println!(
        "{{\"states\": {}, \"transitions\": {}, \"violated\": {}}}",
        checker.unique_state_count(),
        checker.state_count() - 1,
        violated.len()
    );
}

fn main() {
    let given: Vec<usize> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    match given[..] {
        [2, records, 2, threads] => check::<2, 3>(records as u8, threads),
        [3, records, 2, threads] => check::<3, 3>(records as u8, threads),
        [3, records, 3, threads] => check::<3, 4>(records as u8, threads),
        _ => {
            eprintln!("usage: peers LOG_SIZE MAX_RECORDS MAX_LEADER_EPOCH THREADS");
            eprintln!("log sizes and last epochs that are compiled in: 2 2, 3 2, 3 3");
            std::process::exit(2);
        }
    }
}
