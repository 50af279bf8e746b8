//! What is taken on, and what isn't.

use super::*;

const ONE: Uuid = Uuid::from_u128(1);
const OTHER: Uuid = Uuid::from_u128(2);
const LEASE: Duration = Duration::from_secs(20);
const ANSWER: Duration = Duration::from_millis(1);
const OWN: Uuid = Uuid::nil();

/// Time stands still there, so that a test may take as long as it likes.
fn at_rest(limit: usize, limit_per_endpoint: usize) -> Arc<InFlight> {
    let now = Instant::now();
    InFlight::with_clock(limit, limit_per_endpoint, LEASE, move || now)
}

fn home(number: u128) -> Home {
    Home { origin: format!("https://{number}").into(), organisation: OWN }
}

#[test]
fn endpoints_of_one_origin_share_what_a_look_takes_on() {
    let in_flight = at_rest(16, 4);
    let home = Home { origin: "https://black".into(), organisation: ONE };
    let mut planned = Planned::default();
    let endpoints: Vec<Uuid> = (0..32).map(Uuid::from_u128).collect();
    assert_eq!(in_flight.unsettled(endpoints.iter().copied()).len(), 32);
    let counts = endpoints.into_iter().map(|endpoint| {
        in_flight.settle(endpoint, home.clone());
        let count = in_flight.free_for(endpoint, Lane::Ordinary, &planned);
        in_flight.plan(endpoint, count, &mut planned);
        count
    });
    assert_eq!(counts.sum::<usize>(), 8, "of 128 in all");
    assert_eq!(in_flight.free_for(Uuid::from_u128(99), Lane::Ordinary, &planned), 4);
}

#[test]
fn an_endpoint_that_hangs_has_one_place_until_it_answers() {
    let in_flight = at_rest(32, 4);
    let mut tickets: Vec<Ticket> = (0..4).map(|_| in_flight.take(ONE, home(1))).collect();
    assert_eq!(
        (in_flight.free(), in_flight.free_for(ONE, Lane::Ordinary, &Planned::default())),
        (252, 0)
    );
    assert_eq!(in_flight.free_for(OTHER, Lane::Ordinary, &Planned::default()), 4);
    tickets.iter_mut().for_each(Ticket::send);
    assert!(!in_flight.may_send(ONE) && in_flight.may_send(OTHER));
    in_flight.note(ONE, Health::Hanging, ANSWER);
    drop(tickets);
    assert_eq!(
        (in_flight.free(), in_flight.free_for(ONE, Lane::Ordinary, &Planned::default())),
        (256, 1)
    );
    let ticket = in_flight.take(ONE, home(1));
    assert_eq!(in_flight.free_for(ONE, Lane::Ordinary, &Planned::default()), 0);
    in_flight.note(ONE, Health::Troubled, ANSWER);
    assert_eq!(in_flight.free_for(ONE, Lane::Ordinary, &Planned::default()), 3);
    let well = |milliseconds| Health::of(true, false, Duration::from_millis(milliseconds));
    for (milliseconds, ahead) in [(0, 32), (125, 32), (200, 20), (499, 8), (500, 0)] {
        in_flight.note(ONE, well(milliseconds), ANSWER);
        assert_eq!(
            in_flight.free_for(ONE, Lane::Ordinary, &Planned::default()),
            4 + ahead * 4 - 1,
            "{milliseconds}"
        );
    }
    drop(ticket);
    assert!(in_flight.state().by_endpoint.is_empty());
}

#[test]
fn the_room_for_what_is_new_is_that_of_quick_endpoints() {
    let in_flight = at_rest(8, 4);
    let known = |in_all, per_endpoint, eighths, is_draining| Room {
        in_all,
        per_endpoint,
        eighths,
        is_draining,
        ..Room::default()
    };
    let room = |in_all, per_endpoint, eighths| Some(known(in_all, per_endpoint, eighths, false));
    let taken = |in_all, per_endpoint, eighths| Some(known(in_all, per_endpoint, eighths, true));
    assert_eq!(in_flight.room(None), None, "nobody sends yet");
    in_flight.set_intake(Intake::Open);
    assert_eq!(in_flight.room(None), room(8, 4, 8), "nothing is known of any endpoint");
    let mut tickets: Vec<Ticket> = (0..3).filter_map(|_| in_flight.reserve(ONE, OWN)).collect();
    assert_eq!(in_flight.room(None), Some(Room { is_guess: true, ..known(61, 1, 2, true) }));
    in_flight.note(ONE, Health::Unknown((in_flight.clock)() - FIRST_ANSWER), ANSWER);
    assert_eq!(in_flight.room(None), room(61, 61, 8), "it was waited for");
    for health in [Health::Hanging, Health::of(true, false, Duration::from_millis(60))] {
        in_flight.note(ONE, health, ANSWER);
        assert_eq!(in_flight.room(None), room(61, 61, 8), "nobody waits for one that is not quick");
    }
    in_flight.settle(OTHER, Home { organisation: OTHER, ..home(2) });
    in_flight.note(OTHER, Health::of(true, false, Duration::from_millis(1)), ANSWER);
    tickets.extend((0..33).filter_map(|_| in_flight.reserve(OTHER, OTHER)));
    assert_eq!(in_flight.room(None), taken(15, 15, 2), "it has taken most of its part");
    tickets.truncate(23);
    assert_eq!(in_flight.room(None), taken(28, 28, 4));
    in_flight.look_ended(Backlog { new: HashSet::from([OTHER]), ..Backlog::default() });
    let behind = Some(Room { behind: 8, ..known(28, 0, 0, true) });
    assert_eq!(in_flight.room(None), behind, "it has more in the database");
    assert_eq!(in_flight.room(Some(OTHER)), behind);
    assert_eq!(in_flight.room(Some(OWN)), taken(41, 41, 8), "which is nothing to others");
}

#[test]
fn the_room_is_that_of_an_origin_which_endpoints_share() {
    let in_flight = at_rest(8, 4);
    in_flight.set_intake(Intake::Open);
    let home = Home { origin: "https://one".into(), organisation: Uuid::nil() };
    for endpoint in [ONE, OTHER] {
        in_flight.settle(endpoint, home.clone());
        in_flight.note(endpoint, Health::of(true, false, ANSWER), ANSWER);
    }
    let mut tickets: Vec<Ticket> = (0..14).filter_map(|_| in_flight.reserve(ONE, OWN)).collect();
    let room = |in_all, eighths, is_draining| {
        Some(Room { in_all, per_endpoint: in_all, eighths, is_draining, ..Room::default() })
    };
    assert_eq!(
        in_flight.room(None),
        room(34, 5, true),
        "of 48 for the origin, though there are 64 in all"
    );
    tickets.extend((0..40).filter_map(|_| in_flight.reserve(OTHER, OWN)));
    assert_eq!(tickets.len(), 48, "no more than its part");
    // What slow endpoints have taken of it is gone for the quick ones, and nobody else's matter.
    let slow = Duration::from_millis(60);
    for endpoint in [ONE, OTHER] {
        in_flight.note(endpoint, Health::of(true, false, slow), slow);
    }
    assert_eq!(in_flight.room(None), room(16, 8, false), "nobody waits for slow ones");
    // Nobody waits for an origin that answers nothing.
    for endpoint in [ONE, OTHER] {
        in_flight.note(endpoint, Health::of(true, false, ANSWER), ANSWER);
    }
    let behind = room(0, 0, true).map(|room| Room { behind: 4, ..room });
    assert_eq!(in_flight.room(None), behind, "something found no room");
    in_flight.settle(Uuid::from_u128(3), home);
    in_flight.note(Uuid::from_u128(3), Health::Hanging, LEASE);
    assert_eq!(in_flight.room(None), behind, "one hangs, and others are answered meanwhile");
    in_flight.note(Uuid::from_u128(3), Health::Hanging, Duration::ZERO);
    assert_eq!(in_flight.room(None), room(16, 8, false));
}

#[test]
fn a_new_endpoint_leaves_the_others_their_room() {
    let in_flight = at_rest(256, 16);
    in_flight.set_intake(Intake::Open);
    in_flight.settle(ONE, home(1));
    in_flight.note(ONE, Health::of(true, false, ANSWER), ANSWER);
    let mut new = in_flight.reserve(OTHER, OWN).expect("room");
    new.settle(home(2));
    new.send();
    let room = in_flight.room(None).expect("it is open");
    // Enough for an event that more endpoints want than its own origin may have: nobody waits for its answer.
    assert!(room.is_guess && room.in_all == 2_047 && room.eighths >= 4, "{room:?}");
}

#[test]
fn nobody_waits_for_a_new_endpoint_where_an_origin_answers_nothing() {
    let in_flight = at_rest(8, 4);
    in_flight.set_intake(Intake::Open);
    let home = Home { origin: "https://black".into(), organisation: Uuid::nil() };
    let mut tickets: Vec<Ticket> = (0..3).filter_map(|_| in_flight.reserve(ONE, OWN)).collect();
    for ticket in &mut tickets {
        ticket.settle(home.clone());
    }
    let guess = Room {
        in_all: 61,
        per_endpoint: 1,
        eighths: 2,
        is_guess: true,
        is_draining: true,
        ..Room::default()
    };
    assert_eq!(in_flight.room(None), Some(guess), "it may answer soon");
    in_flight.settle(OTHER, home);
    in_flight.note(OTHER, Health::Hanging, ANSWER);
    let room = Room { in_all: 61, per_endpoint: 61, eighths: 8, ..Room::default() };
    assert_eq!(in_flight.room(None), Some(room), "another endpoint there ran into the timeout");
}

#[test]
fn a_new_endpoint_is_waited_for_where_its_origin_answers_others() {
    let in_flight = at_rest(8, 4);
    in_flight.set_intake(Intake::Open);
    let home = Home { origin: "https://one".into(), organisation: Uuid::nil() };
    let mut ticket = in_flight.reserve(ONE, OWN).expect("room");
    ticket.settle(home.clone());
    in_flight.settle(OTHER, home);
    let is_guess = |age, answer| {
        in_flight.note(ONE, Health::Unknown((in_flight.clock)() - age), answer);
        in_flight.note(OTHER, Health::of(true, false, answer), answer);
        in_flight.room(None).is_some_and(|room| room.is_guess)
    };
    assert!(is_guess(FIRST_ANSWER * 2, ANSWER) && !is_guess(FIRST_OF_KNOWN, ANSWER));
    assert!(!is_guess(FIRST_ANSWER * 2, QUICK * 2), "the origin takes its time");
    in_flight.look_ended(Backlog { new: [ONE].into(), ..Backlog::default() });
    assert!(!is_guess(FIRST_ANSWER * 2, ANSWER), "it has more in the database already");
}

#[test]
fn what_is_new_waits_behind_what_is_due_in_the_database() {
    let in_flight = at_rest(8, 2);
    assert!(in_flight.reserve(ONE, OWN).is_none(), "nobody sends yet");
    in_flight.set_intake(Intake::Open);
    let tickets: Vec<Ticket> = (0..2).filter_map(|_| in_flight.reserve(ONE, OWN)).collect();
    assert_eq!(tickets.len(), 2);
    in_flight.look_begins();
    assert!(in_flight.reserve(ONE, OWN).is_none(), "it has no room");
    in_flight.look_ended(Backlog::default());
    assert!(!in_flight.is_worth_a_look(false));
    drop(tickets);
    assert!(in_flight.reserve(ONE, OWN).is_none(), "what had no room comes first");
    assert!(in_flight.is_worth_a_look(false));
    in_flight.look_begins();
    in_flight.look_ended(Backlog::default());
    assert!(in_flight.reserve(ONE, OWN).is_some() && !in_flight.is_worth_a_look(false));
}

#[test]
fn what_nobody_knows_takes_an_eighth_of_what_is_in_memory() {
    let in_flight = at_rest(32, 4);
    in_flight.set_intake(Intake::Open);
    let reserve = |n: u128| in_flight.reserve(Uuid::from_u128(100 + n), Uuid::from_u128(n / 50));
    let mut tickets: Vec<Ticket> = (0..100).filter_map(reserve).collect();
    assert_eq!(tickets.len(), 32, "half of that for each organisation");
    // It doesn't change when it is known where they are, at one origin or at as many.
    for (number, ticket) in tickets.iter_mut().enumerate() {
        let origin = format!("https://{}", number % 3).into();
        ticket.settle(Home { origin, organisation: ticket.home.organisation });
    }
    in_flight.look_begins();
    in_flight.look_ended(Backlog::default());
    assert!((0..100).find_map(reserve).is_none());
    // What answers has room beside.
    in_flight.settle(OTHER, home(7));
    in_flight.note(OTHER, Health::of(true, false, ANSWER), ANSWER);
    tickets.extend((0..200).filter_map(|_| in_flight.reserve(OTHER, OWN)));
    assert_eq!(tickets.len(), 32 + 132, "all that one endpoint may have");
}

#[test]
fn what_was_prepared_before_a_change_is_turned_away() {
    let in_flight = at_rest(8, 4);
    assert!(in_flight.is_current(ONE, 1));
    in_flight.turn_away(ONE, 3);
    in_flight.turn_away(ONE, 2);
    assert!(!in_flight.is_current(ONE, 2) && in_flight.is_current(ONE, 3));
    assert!(in_flight.is_current(OTHER, 1));
}

#[test]
fn what_is_sent_again_leaves_room_for_what_is_new() {
    let in_flight = at_rest(8, 2);
    in_flight.set_intake(Intake::Open);
    in_flight.note(ONE, Health::of(true, false, ANSWER), ANSWER);
    let replayed: Vec<Ticket> = (0..in_flight.free_for(ONE, Lane::Replay, &Planned::default()))
        .map(|_| in_flight.take(ONE, home(1)))
        .collect();
    assert_eq!(replayed.len(), 2);
    in_flight.look_ended(Backlog { replayed: HashSet::from([ONE]), ..Backlog::default() });
    assert_eq!(in_flight.free_for(ONE, Lane::Replay, &Planned::default()), 0);
    assert!(in_flight.reserve(ONE, OWN).is_some(), "what is new doesn't wait for it");
    assert!(!in_flight.is_worth_a_look(false));
    drop(replayed);
    assert!(in_flight.is_worth_a_look(false));
}
