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
    let refused = shares.take(share(2, 2)).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unavailable);
    assert!(refused.is_transient());
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
