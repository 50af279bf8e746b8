//! Random workflows, people and changes on two nodes, which crash now and then: after each step the application is where the
//! model is.
//!
//! A crash ends a request at any moment at which it waits for something: then all of it has happened, or nothing.

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value as Json, json};
use svc_testing::{Backend, Person, TestApp, on_both_databases};

use crate::fixture::World;
use crate::model::{Locks, Model, PEOPLE, PERMISSIONS, Plan, Times, Way};

/// What somebody does, by one node or the other.
#[derive(Clone, Debug)]
enum Act {
    Take {
        person: usize,
        way: usize,
        comment: Option<String>,
        is_stale: bool,
        crash: Option<usize>,
    },
    /// The other node crashes, and another one takes its place.
    Replace,
    Change {
        total: i64,
    },
    Delegate {
        from: usize,
        to: usize,
        hours: u32,
    },
    Wait {
        hours: u32,
    },
}

fn ways(states: usize) -> impl Strategy<Value = Vec<Way>> {
    // A ring, so that each state is reached and left, and others across it.
    let ring =
        (0..states).map(move |from| way(Just(from), Just((from + 1) % states))).collect::<Vec<_>>();
    (ring, vec(way(0..states, 0..states), 1..6)).prop_map(|(ring, more)| [ring, more].concat())
}

fn way(
    from: impl Strategy<Value = usize>,
    to: impl Strategy<Value = usize>,
) -> impl Strategy<Value = Way> {
    let permission = prop_oneof![3 => (0..PERMISSIONS.len()).prop_map(Some), 1 => Just(None)];
    let rarely = || prop::bool::weighted(0.2);
    let above = prop_oneof![3 => Just(None), 1 => (0_i64..4).prop_map(Some)];
    let how = (rarely(), rarely(), rarely(), rarely());
    let groups = prop_oneof![3 => Just(None), 1 => any::<bool>().prop_map(Some)];
    (from, to, permission, 1_u32..3, how, above, groups).prop_map(
        |(from, to, permission, approvals, how, above, groups)| {
            let (not_by_creator, not_by_last, needs_comment, keeps_comment) = how;
            Way {
                from,
                to,
                permission,
                approvals,
                groups,
                not_by_creator,
                not_by_last,
                needs_comment,
                above,
                keeps_comment,
            }
        },
    )
}

fn plan() -> impl Strategy<Value = Plan> {
    let locks = prop_oneof![Just(Locks::Nothing), Just(Locks::Reference), Just(Locks::Everything)];
    vec((locks, times()), 2..5).prop_flat_map(|states| {
        ways(states.len()).prop_map(move |mut ways| {
            let (states, mut times): (Vec<_>, Vec<_>) = states.iter().cloned().unzip();
            times[0] = Times::default();
            for (way, _) in ways.iter_mut().zip(&times).filter(|it| it.1.automatic.is_some()) {
                way.needs_comment = false;
            }
            Plan { states, times, ways }
        })
    })
}

fn times() -> impl Strategy<Value = Times> {
    let hours = || prop::option::of(1_u32..10);
    (hours(), prop::option::of(0..PERMISSIONS.len()), hours()).prop_map(
        |(due, later, automatic)| Times { due, later: later.filter(|_| due.is_some()), automatic },
    )
}

fn act() -> impl Strategy<Value = (bool, Act)> {
    let comment = prop::option::of("[a-c]{1,2}");
    let crash = prop_oneof![4 => Just(None), 1 => (0_usize..40).prop_map(Some)];
    let take = (0..PEOPLE.len(), any::<usize>(), comment, prop::bool::weighted(0.05), crash);
    let take = take.prop_map(|(person, way, comment, is_stale, crash)| Act::Take {
        person,
        way,
        comment,
        is_stale,
        crash,
    });
    let change = (0_i64..5).prop_map(|total| Act::Change { total });
    let wait = (1_u32..8).prop_map(|hours| Act::Wait { hours });
    let delegate = (0..PEOPLE.len(), 0..PEOPLE.len(), 1_u32..12);
    let delegate = delegate.prop_map(|(from, to, hours)| Act::Delegate { from, to, hours });
    (
        any::<bool>(),
        prop_oneof![12 => take, 2 => change, 4 => wait, 2 => delegate, 1 => Just(Act::Replace)],
    )
}

fn person(number: usize) -> Person {
    let own = ["Workflows.View", "Workflows.Act", "Orders.View", "Orders.Create", "Orders.Update"];
    let more = PEOPLE[number].iter().map(|permission| PERMISSIONS[*permission]);
    Person::named(&format!("P{number}")).who_may(&own.into_iter().chain(more).collect::<Vec<_>>())
}

/// Compares where a record stands, and what each person can do about it.
async fn compare(node: &TestApp, model: &Model, id: &str) {
    for number in 0..PEOPLE.len() {
        let client = node.sign_in(&person(number));
        let seen = client.get(&format!("/api/v1/workflows/Orders/{id}")).await.expect(200);
        assert_eq!(seen["state"]["name"], format!("s{}", model.state));
        assert_eq!(seen["version"], format!("{}.{}", model.version, model.steps));
        assert_eq!(seen["isEscalated"], model.is_escalated, "{model:?}");
        let steps = usize::try_from(model.steps.min(100)).unwrap();
        assert_eq!(seen["past"].as_array().unwrap().len(), steps);
        for choice in seen["choices"].as_array().unwrap() {
            let way: usize = choice["name"].as_str().unwrap()[1..].parse().unwrap();
            let expected = model.refusal(number, way);
            assert_eq!(choice["obstacle"]["code"].as_str(), expected, "P{number} t{way} {model:?}");
        }
        let tasks = client.get("/api/v1/workflows/tasks").await.expect(200);
        let task = tasks["items"].as_array().unwrap().first().map(|task| {
            assert_eq!((&task["id"], &task["version"]), (&json!(id), &seen["version"]));
            let choices = task["choices"].as_array().unwrap().iter();
            choices.map(|way| way["name"].as_str().unwrap()[1..].parse().unwrap()).collect()
        });
        assert_eq!(task, model.task(number), "P{number} {model:?}");
        let path = format!("/odata/v1/Orders({id})?$select=workflowAwaitsMe");
        let order = client.get(&path).await.expect(200);
        assert_eq!(order["workflowAwaitsMe"], task.is_some(), "P{number} {model:?}");
    }
}

/// Does something until it has waited so often; none where it was dropped then.
async fn until_crash<T>(waits: usize, work: impl Future<Output = T>) -> Option<T> {
    let mut work = Box::pin(work);
    let mut left = waits;
    poll_fn(|cx| match work.as_mut().poll(cx) {
        Poll::Ready(done) => Poll::Ready(Some(done)),
        Poll::Pending if left == 0 => Poll::Ready(None),
        Poll::Pending => {
            left -= 1;
            Poll::Pending
        }
    })
    .await
}

/// Whether the application is where a model is, as far as a step of somebody shows.
async fn agrees(node: &TestApp, model: &Model, person_number: usize, id: &str) -> bool {
    let client = node.sign_in(&person(person_number));
    let seen = client.get(&format!("/api/v1/workflows/Orders/{id}")).await.expect(200);
    let choices = seen["choices"].as_array().unwrap();
    seen["version"] == format!("{}.{}", model.version, model.steps)
        && choices.iter().all(|choice| {
            let way: usize = choice["name"].as_str().unwrap()[1..].parse().unwrap();
            choice["obstacle"]["code"].as_str() == model.refusal(person_number, way)
        })
}

/// Takes a transition; none where the request ended before its answer.
async fn take(
    node: &TestApp,
    (id, number, way): (&str, usize, usize),
    body: Json,
    crash: Option<usize>,
) -> Option<Json> {
    let client = node.sign_in(&person(number));
    let path = format!("/api/v1/workflows/Orders/{id}/transitions/t{way}");
    let Some(waits) = crash else { return Some(client.post(&path, body).await.json()) };
    let answer = until_crash(waits, client.post(&path, body)).await;
    if answer.is_none() {
        // Whoever locks the record next waits until what was left behind is over.
        let stale = json!({"version": "0.0"});
        assert_eq!(client.post(&path, stale).await.status, 409);
    }
    answer.map(|answer| answer.json())
}

async fn play(backend: Backend, plan: Plan, acts: Vec<(bool, Act)>) {
    let world = World::with(backend, plan.definition()).await;
    let mut other = world.app.another_node().await;
    for number in 0..PEOPLE.len() {
        let _ = world.app.sign_in(&person(number));
    }
    let creator = person(0);
    let id = world.order(&creator, 2).await;
    let mut model = Model::new(plan, 0, 2);
    for (is_elsewhere, act) in acts {
        if matches!(act, Act::Replace) {
            other = world.app.another_node().await;
        }
        let node = if is_elsewhere { &other } else { &world.app };
        match act {
            Act::Replace => {}
            Act::Take { person: number, way, comment, is_stale, crash } => {
                let way = way % model.plan.ways.len();
                let steps = if is_stale { model.steps + 1 } else { model.steps };
                let body =
                    json!({"version": format!("{}.{steps}", model.version), "comment": comment});
                let before = model.clone();
                let expected = if is_stale {
                    Err("workflows.changed_since")
                } else {
                    model.take(number, way, comment.as_deref())
                };
                match take(node, (&id, number, way), body, crash).await {
                    Some(told) => {
                        let outcome = match told["approvalsMissing"].as_u64() {
                            Some(missing) => Ok(u32::try_from(missing).unwrap()),
                            None => Err(told["code"].as_str().unwrap()),
                        };
                        assert_eq!(outcome, expected, "P{number} t{way} {model:?}");
                    }
                    None if agrees(&world.app, &before, number, &id).await => model = before,
                    None => assert!(agrees(&world.app, &model, number, &id).await, "{model:?}"),
                }
            }
            Act::Change { total } => {
                let path = format!("/odata/v1/Orders({id})");
                let changed = node.sign_in(&creator).patch(&path, json!({"total": total})).await;
                assert_eq!(changed.status.is_success(), model.change(total), "{}", changed.text);
            }
            Act::Delegate { from, to, hours } => {
                if model.delegate(from, to, hours) {
                    let ends = world.app.clock().now() + Duration::from_hours(hours.into());
                    let to = person(to).principal().user_id().unwrap().0;
                    let body = json!({"to": to, "ends": svc_database::stored::timestamp(ends)});
                    let client = node.sign_in(&person(from));
                    let _ = client.post("/api/v1/workflows/delegations", body).await.expect(201);
                }
            }
            Act::Wait { hours } => {
                world.app.advance(Duration::from_hours(hours.into()));
                let _ = node.drain().await;
                model.wait(hours);
            }
        }
        compare(if is_elsewhere { &world.app } else { &other }, &model, &id).await;
    }
    let order = world.read(&id).await;
    assert_eq!(order["verdict"].as_str(), model.verdict.as_deref());
    assert_eq!(order["total"], model.total);
}

/// Names the seed of the games, so that those of a run that failed are played again.
const SEED: &str = "SVC_WORKFLOWS_SEED";

/// How many games are played.
const GAMES: usize = 8;

/// The number that [`SEED`] names; any other where it names none.
fn seed() -> u64 {
    match std::env::var(SEED) {
        Ok(named) => named.parse().unwrap_or_else(|_| panic!("`{SEED}` is a number")),
        Err(_) => any::<u64>().new_tree(&mut TestRunner::default()).unwrap().current(),
    }
}

on_both_databases! {
    async fn the_application_is_where_the_model_is(backend) {
        let seed = seed();
        // Shown where the test fails.
        println!("{SEED}={seed} plays these games again");
        let bytes: Vec<u8> = [seed; 4].into_iter().flat_map(u64::to_le_bytes).collect();
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
        let mut runner = TestRunner::new_with_rng(Config::default(), rng);
        let games = (plan(), vec(act(), 20..40));
        for _ in 0..GAMES {
            let (plan, acts) = games.new_tree(&mut runner).unwrap().current();
            play(backend, plan, acts).await;
        }
    }
}
