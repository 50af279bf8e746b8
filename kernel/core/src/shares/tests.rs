use futures::FutureExt as _;

use super::*;

fn share(organisation: u128, person: u128) -> Share {
    Share {
        organisation: Some(OrganisationId(Uuid::from_u128(organisation))),
        person: Some(UserId(Uuid::from_u128(person))),
    }
}

/// Where nobody has to be refused for being late.
const LONG: Duration = Duration::from_mins(1);

fn shares(total: usize, organisation: usize, person: usize, patience: Duration) -> Shares {
    Shares::new(ShareLimits {
        of: "seats",
        setting: "Svc:Seats",
        total,
        organisation,
        person,
        waiting: 5,
        patience,
    })
}

#[tokio::test]
async fn a_person_and_an_organisation_have_at_most_their_share() {
    let shares = shares(10, 3, 2, Duration::from_millis(50));
    let held = [shares.take(share(1, 1)).await.unwrap(), shares.take(share(1, 1)).await.unwrap()];
    let refused = shares.take(share(1, 1)).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::TooManyRequests);
    assert!(refused.message().contains("`Svc:Seats`"), "{}", refused.message());
    assert_eq!(refused.retry_delay(), Some(Duration::from_secs(1)));
    let colleague = shares.take(share(1, 2)).await.unwrap();
    assert_eq!(shares.take(share(1, 3)).await.unwrap_err().kind(), ErrorKind::TooManyRequests);
    let other = shares.take(share(2, 1)).await.unwrap();
    drop((held, colleague, other));
    assert_eq!(shares.state().people(), 0);
}

#[tokio::test]
async fn whoever_is_known_by_a_name_alone_has_a_share_of_its_own() {
    let shares = shares(10, 2, 2, Duration::from_millis(50));
    let [one, other] = [1, 2].map(|name| Share::of_name(Uuid::from_u128(name)));
    let held = [shares.take(one).await.unwrap(), shares.take(one).await.unwrap()];
    assert_eq!(shares.take(one).await.unwrap_err().kind(), ErrorKind::TooManyRequests);
    let beside = shares.take(other).await.unwrap();
    drop((held, beside));
    assert_eq!(shares.state().people(), 0);
}

#[tokio::test]
async fn when_all_is_used_up_that_is_nobodys_fault() {
    let shares = shares(1, 1, 1, Duration::from_millis(50));
    let held = shares.take(share(1, 1)).await.unwrap();
    // The one who has it all isn't told that it is too much: everybody may have all.
    for who in [share(2, 2), share(1, 2), share(1, 1)] {
        let refused = shares.take(who).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Unavailable);
        assert!(refused.is_transient());
    }
    drop(held);
    assert_eq!(shares.state().people(), 0);
}

#[tokio::test]
async fn no_more_may_wait_than_may_wait() {
    let shares = shares(1, 1, 1, LONG);
    let held = shares.take(share(1, 1)).await.unwrap();
    let mut waiting: Vec<_> = (0..5).map(|_| Box::pin(shares.take(share(1, 1)))).collect();
    for one in &mut waiting {
        assert!(one.as_mut().now_or_never().is_none());
    }
    let refused = shares.take(share(1, 1)).now_or_never().expect("no wait");
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::TooManyRequests);
    // Who stops waiting makes room.
    drop(waiting.pop());
    let mut next = Box::pin(shares.take(share(1, 1)));
    assert!(next.as_mut().now_or_never().is_none());
    drop((waiting, next, held));
    assert_eq!(shares.state().people(), 0);
}

#[tokio::test]
async fn shares_are_served_in_turn_and_each_in_its_order() {
    let shares = shares(1, 1, 1, LONG);
    let held = shares.take(share(9, 9)).await.unwrap();
    let (tell, mut served) = tokio::sync::mpsc::unbounded_channel();
    let mut asked = Vec::new();
    let asking =
        [(1, 1, "a1"), (1, 1, "a2"), (1, 1, "a3"), (1, 2, "b1"), (1, 2, "b2"), (2, 3, "c1")];
    for (organisation, person, name) in asking {
        let (shares, tell) = (shares.clone(), tell.clone());
        asked.push(tokio::spawn(async move {
            let _place = shares.take(share(organisation, person)).await.unwrap();
            tell.send(name).unwrap();
        }));
        tokio::task::yield_now().await;
    }
    drop(held);
    let mut order = Vec::new();
    for _ in 0..asked.len() {
        order.push(served.recv().await.unwrap());
    }
    // The organisations in turn, and within the first its people in turn.
    assert_eq!(order, ["a1", "c1", "b1", "a2", "b2", "a3"]);
    futures::future::join_all(asked).await;
    assert_eq!(shares.state().people(), 0);
}

#[tokio::test]
async fn a_place_that_came_too_late_goes_to_the_next() {
    let shares = shares(1, 1, 1, LONG);
    let held = shares.take(share(1, 1)).await.unwrap();
    let mut gone = Box::pin(shares.take(share(1, 2)));
    assert!(gone.as_mut().now_or_never().is_none());
    let mut next = Box::pin(shares.take(share(2, 3)));
    assert!(next.as_mut().now_or_never().is_none());
    // It is granted, and dropped before it was looked at.
    drop(held);
    drop(gone);
    let place = next.await.unwrap();
    drop(place);
    assert_eq!(shares.state().people(), 0);
}

/// Numbers that look like chance and are the same in each run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % limit
    }
}

#[tokio::test]
async fn whatever_comes_and_goes_nobody_has_too_much_or_waits_where_there_is_room() {
    for seed in 1..=150 {
        let mut dice = Dice(seed);
        let [total, organisation, person] = [5, 3, 2].map(|most| 1 + dice.below(most));
        let seats = shares(total, organisation, person, LONG);
        let mut held: Vec<(Share, Place)> = Vec::new();
        let mut waiting = Vec::new();
        for step in 0..100 {
            match dice.below(4) {
                0 | 1 => {
                    let who = share(dice.below(3) as u128, dice.below(3) as u128);
                    waiting.push((who, Box::pin(seats.take(who))));
                }
                2 if !held.is_empty() => drop(held.swap_remove(dice.below(held.len()))),
                3 if !waiting.is_empty() => drop(waiting.remove(dice.below(waiting.len()))),
                _ => {}
            }
            // A task that looks too often in one turn is told nothing more.
            tokio::task::yield_now().await;
            // Whoever was given a place takes it, and who was refused goes away.
            let mut left = Vec::new();
            for (who, mut asked) in waiting {
                match asked.as_mut().now_or_never() {
                    Some(Ok(place)) => held.push((who, place)),
                    Some(Err(refused)) => {
                        assert_eq!(refused.kind(), ErrorKind::TooManyRequests);
                        assert_eq!(left.iter().filter(|(other, _)| *other == who).count(), 5);
                    }
                    None => left.push((who, asked)),
                }
            }
            waiting = left;
            let of = |is_same: &dyn Fn(Share) -> bool| {
                held.iter().filter(|(who, _)| is_same(*who)).count()
            };
            assert!(held.len() <= total, "seed {seed}, step {step}");
            for number in 0..3 {
                let all = share(number, 0).organisation;
                assert!(
                    of(&|who| who.organisation == all) <= organisation,
                    "seed {seed}, step {step}"
                );
            }
            assert!(held.iter().all(|(one, _)| of(&|who| who == *one) <= person));
            for (who, _) in &waiting {
                let is_at_a_limit = held.len() == total
                    || of(&|other| other.organisation == who.organisation) == organisation
                    || of(&|other| other == *who) == person;
                assert!(is_at_a_limit, "{who:?} waits, seed {seed}, step {step}");
            }
        }
        drop((held, waiting));
        assert_eq!(seats.state().people(), 0, "seed {seed}");
    }
}
