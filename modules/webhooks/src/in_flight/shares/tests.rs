//! How places and memory are shared.

use super::*;

fn home(origin: &str, organisation: u128) -> Home {
    Home { origin: origin.into(), organisation: Uuid::from_u128(organisation) }
}

/// Takes on and begins as many requests as may be.
fn fill(shares: &mut Shares, home: &Home, now: Instant) -> usize {
    let mut begun = 0;
    while shares.may_send(home) && shares.taken.all.sending < shares.limit {
        shares.enter(home, now);
        shares.send(home, now);
        begun += 1;
    }
    begun
}

#[test]
fn an_origin_that_doesn_t_answer_leaves_the_others_their_places() {
    let mut shares = Shares::new(256, 16);
    let now = Instant::now();
    let black = home("https://black", 1);
    assert_eq!(fill(&mut shares, &black, now), 32, "nothing is known of it");
    shares.note(&black, Health::Hanging, Duration::from_secs(10), now);
    for _ in 0..32 {
        shares.leave(&black, true, now);
    }
    assert_eq!(fill(&mut shares, &black, now), 4, "it ran into the timeout");
    assert_eq!(shares.room(&black, &PlannedShares::default()), 4);
    shares.note(&black, Health::Troubled, Duration::from_millis(20), now);
    assert_eq!(fill(&mut shares, &black, now), 188, "it answers again, with whatever");
    let now = now + Duration::from_millis(251);
    shares.listen(now);
    let well = home("https://well", 1);
    shares.note(&well, Health::Well(Duration::from_millis(5)), Duration::from_millis(5), now);
    assert!(!shares.may_send(&black), "and is silent again");
    assert_eq!(fill(&mut shares, &well, now), 64, "what is left");
}

#[test]
fn one_path_that_hangs_is_none_of_the_origin_s_others() {
    let mut shares = Shares::new(256, 16);
    let (began, span) = (Instant::now(), Duration::from_secs(10));
    let home = home("https://one", 1);
    shares.enter(&home, began);
    shares.send(&home, began);
    shares.note(&home, Health::Well(ANSWER), ANSWER, began + span - ANSWER);
    shares.note(&home, Health::Hanging, span, began + span);
    assert!(shares.answers(&home), "another one was answered meanwhile");
    shares.note(&home, Health::Hanging, span, began + span * 2);
    assert!(!shares.answers(&home), "nothing was");
}

const ANSWER: Duration = Duration::from_millis(5);

/// Homes of an organisation, each at an origin of its own.
fn homes(organisation: u128) -> impl Iterator<Item = Home> {
    (0..300).map(move |number| home(&format!("https://{organisation}.{number}"), organisation))
}

/// Takes as much on for a home as it has room for, up to an endpoint's places.
fn take(shares: &mut Shares, home: &Home, now: Instant) -> usize {
    let room = shares.room(home, &PlannedShares::default()).min(16);
    (0..room).for_each(|_| shares.enter(home, now));
    room
}

#[test]
fn origins_that_go_black_in_turn_have_half_together() {
    let mut shares = Shares::new(256, 16);
    let now = Instant::now();
    let mut begin = |organisation| -> usize {
        homes(organisation).map(|home| fill(&mut shares, &home, now)).sum()
    };
    assert_eq!((begin(1), begin(2), begin(3)), (64, 64, 0), "half of that for each organisation");
    let well = home("https://well", 1);
    shares.note(&well, Health::Well(ANSWER), ANSWER, now);
    let other = home("https://other", 2);
    shares.enter(&other, now);
    assert_eq!(fill(&mut shares, &well, now), 64, "the other half of its organisation's");
}

#[test]
fn origins_that_answer_nothing_have_an_eighth_of_what_is_in_memory_together() {
    let mut shares = Shares::new(256, 16);
    let now = Instant::now();
    let mut taken = |organisation| -> usize {
        homes(organisation).map(|home| take(&mut shares, &home, now)).sum()
    };
    assert_eq!((taken(1), taken(2), taken(3)), (128, 128, 0));
    for organisation in [1, 3] {
        let well = home("https://well", organisation);
        shares.note(&well, Health::Well(ANSWER), ANSWER, now);
        let room = shares.room(&well, &PlannedShares::default());
        assert_eq!(room, if organisation == 1 { 1_536 - 128 } else { 1_536 });
    }
    let stranger = Home::unknown(Uuid::from_u128(3));
    assert_eq!(shares.room(&stranger, &PlannedShares::default()), 0, "it may be one of them");
    // One that answers is counted among them no more.
    let first = homes(1).next().unwrap();
    shares.note(&first, Health::Well(ANSWER), ANSWER, now);
    assert_eq!(shares.room(&stranger, &PlannedShares::default()), 16);
}

#[test]
fn origins_that_hang_leave_room_for_those_of_which_nothing_is_known() {
    let mut shares = Shares::new(256, 16);
    let now = Instant::now();
    let mut begun = |organisation| -> usize {
        let hanging = homes(organisation).map(|home| {
            shares.note(&home, Health::Hanging, Duration::from_secs(10), now);
            fill(&mut shares, &home, now)
        });
        hanging.sum()
    };
    assert_eq!((begun(1), begun(2), begun(3)), (32, 32, 0));
    let hanging = homes(4).next().unwrap();
    shares.note(&hanging, Health::Hanging, Duration::from_secs(10), now);
    assert_eq!(shares.room(&hanging, &PlannedShares::default()), 0, "nothing waits besides");
    assert_eq!(fill(&mut shares, &home("https://new", 1), now), 32);
}

#[test]
fn what_a_look_plans_counts_for_all_that_don_t_answer() {
    let (shares, mut planned) = (Shares::new(256, 16), PlannedShares::default());
    let mut plan = |organisation| -> usize {
        let planned = homes(organisation).map(|home| {
            let room = shares.room(&home, &planned).min(16);
            shares.plan(&home, room, &mut planned);
            room
        });
        planned.sum()
    };
    assert_eq!((plan(1), plan(2), plan(3)), (128, 128, 0));
}

#[test]
fn what_waits_for_an_origin_that_falls_silent_is_too_much() {
    let mut shares = Shares::new(256, 16);
    let (one, began) = (home("https://one", 1), Instant::now());
    shares.note(&one, Health::Well(ANSWER), ANSWER, began);
    (0..300).for_each(|_| shares.enter(&one, began));
    shares.send(&one, began);
    let at = |shares: &mut Shares, after: u64| {
        let now = began + Duration::from_millis(after);
        shares.listen(now);
        (shares.answers(&one), shares.is_too_much(&one, now))
    };
    assert_eq!(at(&mut shares, 240), (true, false));
    assert_eq!(at(&mut shares, 260), (false, false), "it may have stopped for a moment");
    assert_eq!(at(&mut shares, 1_010), (false, true));
    let stranger = Home::unknown(Uuid::from_u128(1));
    assert_eq!(shares.room(&stranger, &PlannedShares::default()), 0);
    (0..236).for_each(|_| shares.leave(&one, false, began));
    assert_eq!(at(&mut shares, 1_030), (false, false), "the rest is its part");
}

#[test]
fn an_origin_that_takes_long_has_no_more_than_one_that_is_silent() {
    let mut shares = Shares::new(256, 16);
    let (slow, now) = (home("https://slow", 1), Instant::now());
    shares.note(&slow, Health::Troubled, Duration::from_secs(9), now);
    assert_eq!(fill(&mut shares, &slow, now), 32);
    shares.note(&slow, Health::Troubled, LONG, now);
    assert_eq!(fill(&mut shares, &slow, now), 160);
}

#[test]
fn an_organisation_has_half_while_another_waits() {
    let mut shares = Shares::new(64, 4);
    let now = Instant::now();
    let answer = Duration::from_millis(5);
    let (big, small) = (home("https://big", 1), home("https://small", 2));
    for home in [&big, &small] {
        shares.note(home, Health::Well(answer), answer, now);
    }
    assert_eq!(fill(&mut shares, &big, now), 48, "three quarters, and nobody else waits");
    for _ in 0..48 {
        shares.leave(&big, true, now);
    }
    shares.enter(&small, now);
    assert_eq!(fill(&mut shares, &big, now), 32);
    assert!(shares.may_send(&small));
}

#[test]
fn an_origin_is_quiet_while_what_is_in_flight_has_had_no_answer() {
    let (mut shares, span) = (Shares::new(8, 4), Duration::from_millis(25));
    let (one, began) = (home("https://one", 1), Instant::now());
    assert!(!shares.is_quiet(&one, span, began), "nothing was sent there yet");
    shares.enter(&one, began);
    shares.send(&one, began);
    assert!(!shares.is_quiet(&one, span, began + span - Duration::from_millis(1)));
    assert!(shares.is_quiet(&one, span, began + span));
    let answer = Duration::from_millis(40);
    shares.note(&one, Health::Well(answer), answer, began + answer);
    assert!(!shares.is_quiet(&one, span, began + span * 2), "it has answered since");
    assert!(shares.is_quiet(&one, span, began + answer + span));
    shares.leave(&one, true, began);
    assert!(!shares.is_quiet(&one, span, began + span * 9), "it was asked nothing");
    shares.note(&one, Health::Hanging, span, began + span * 9);
    assert!(shares.is_quiet(&one, span, began + span * 9), "the last request had no answer");
}

#[test]
fn origins_are_forgotten_when_there_are_too_many() {
    let (mut shares, now) = (Shares::new(8, 2), Instant::now());
    let busy = home("https://busy", 1);
    shares.enter(&busy, now);
    for number in 0..REMEMBERED * 2 {
        let home = home(&number.to_string(), 1);
        shares.enter(&home, now);
        shares.leave(&home, false, now);
    }
    assert!(shares.origins.len() <= REMEMBERED && shares.origins.contains_key(&busy.origin));
}
