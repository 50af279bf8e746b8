//! Conditions on both databases, held against a model of what OData says of them: null is a value for `eq`, `ne` and
//! `in`, and makes every other comparison false, so that there are two truths and no third.

use serde_json::{Value, json};
use svc_testing::{Client, Person, on_both_databases};

use crate::fixture::{path, start, stock};

/// A lamp of the fixture, with what its maker adds.
struct Lamp {
    sku: &'static str,
    /// In tenths.
    price: i32,
    watts: Option<i32>,
    /// Name, discount, and whether it belongs to another.
    maker: Option<(&'static str, i32, bool)>,
    /// Whether it was sold from 2026 on.
    sold: Option<bool>,
}

const ALPHA: Option<(&str, i32, bool)> = Some(("Älpha", 10, false));
const BETA: Option<(&str, i32, bool)> = Some(("Beta", 20, true));

static LAMPS: [Lamp; 5] = [
    Lamp { sku: "A-1", price: 50, watts: Some(40), maker: ALPHA, sold: Some(true) },
    Lamp { sku: "A-2", price: 105, watts: None, maker: ALPHA, sold: None },
    Lamp { sku: "B-1", price: 200, watts: Some(7), maker: BETA, sold: Some(false) },
    Lamp { sku: "B-2", price: 70, watts: Some(60), maker: BETA, sold: None },
    Lamp { sku: "C-1", price: 10, watts: None, maker: None, sold: None },
];

type Holds = fn(&Lamp) -> bool;

fn discount(lamp: &Lamp) -> Option<i32> {
    lamp.maker.map(|(_, discount, _)| discount)
}

/// The lamps of a lamp's maker; none where nobody has made it.
fn siblings(lamp: &Lamp) -> impl Iterator<Item = &'static Lamp> {
    let maker = lamp.maker;
    LAMPS.iter().filter(move |other| maker.is_some() && other.maker == maker)
}

/// Conditions, and for which lamps they hold.
const ATOMS: &[(&str, Holds)] = &[
    ("watts gt 20", |it| it.watts > Some(20)),
    ("watts le 40", |it| it.watts.is_some_and(|watts| watts <= 40)),
    ("watts ne 7", |it| it.watts != Some(7)),
    ("watts eq null", |it| it.watts.is_none()),
    ("watts eq watts", |_| true),
    ("watts ne watts", |_| false),
    ("watts ge watts", |it| it.watts.is_some()),
    ("watts eq maker/discount", |it| it.watts == discount(it)),
    ("watts ne maker/discount", |it| it.watts != discount(it)),
    ("watts lt maker/discount", |it| it.watts.is_some() && it.watts < discount(it)),
    ("watts add 0 eq maker/discount sub 0", |it| it.watts == discount(it)),
    ("watts in (7,null)", |it| it.watts.is_none_or(|watts| watts == 7)),
    ("price mul 2 gt 15", |it| it.price * 2 > 150),
    ("price div (watts sub 7) gt 0", |it| it.watts.is_some_and(|watts| watts > 7)),
    ("contains(sku,'-1')", |it| it.sku.contains("-1")),
    ("maker/name eq 'Beta'", |it| it.maker == BETA),
    ("endswith(maker/name,'pha') eq true", |it| it.maker == ALPHA),
    ("tolower(maker/name) eq tolower(maker/parent/name)", |it| it.maker.is_none()),
    ("maker/parent eq null", |it| it.maker.is_none_or(|(_, _, belongs)| !belongs)),
    ("maker/parent/name eq maker/name", |it| it.maker.is_none()),
    ("soldFrom gt 2026-01-01T00:00:00Z", |it| it.sold == Some(true)),
    ("maker/lamps/any(l:l/watts gt 50)", |it| siblings(it).any(|l| l.watts > Some(50))),
    ("maker/lamps/all(l:l/watts gt 5)", |it| siblings(it).all(|l| l.watts > Some(5))),
    ("maker/lamps/any(l:l/soldFrom eq null and l/sku ne sku)", |it| {
        siblings(it).any(|l| l.sold.is_none() && l.sku != it.sku)
    }),
    ("maker/lamps/$count eq 0", |it| it.maker.is_none()),
    ("case(watts gt 20:true) eq true", |it| it.watts > Some(20)),
    ("(watts gt 20) eq false", |it| it.watts <= Some(20)),
    ("length(maker/name) gt 4", |it| it.maker == ALPHA),
];

fn expected(holds: impl Fn(&Lamp) -> bool) -> String {
    let lamps = LAMPS.iter().filter(|lamp| holds(lamp));
    lamps.map(|lamp| lamp.sku).collect::<Vec<_>>().join(" ")
}

/// What differs from the model, a line each.
struct Differences<'c> {
    client: &'c Client,
    lines: Vec<String>,
}

impl Differences<'_> {
    async fn try_condition(&mut self, condition: &str, expected: &str) {
        let address = path("Lamps", &format!("$filter={condition}&$orderby=sku&$select=sku"));
        let answer = self.client.get(&address).await;
        let found = match answer.status.as_u16() {
            200 => {
                let page = answer.json();
                let lamps = page["value"].as_array().unwrap().iter();
                lamps.map(|lamp| lamp["sku"].as_str().unwrap()).collect::<Vec<_>>().join(" ")
            }
            _ => answer.text,
        };
        if found != expected {
            self.lines.push(format!("{condition}: {found}, not {expected}"));
        }
    }

    fn end(self) {
        assert!(self.lines.is_empty(), "{}", self.lines.join("\n"));
    }
}

on_both_databases! {
    async fn each_condition_and_its_opposite_divide_all_lamps(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        stock(&boss).await;
        let mut differences = Differences { client: &boss, lines: Vec::new() };
        for (atom, holds) in ATOMS {
            let (its, others) = (expected(holds), expected(|lamp| !holds(lamp)));
            differences.try_condition(atom, &its).await;
            differences.try_condition(&format!("not ({atom})"), &others).await;
            differences.try_condition(&format!("not (not ({atom}))"), &its).await;
            differences.try_condition(&format!("({atom}) eq false"), &others).await;
            differences.try_condition(&format!("case({atom}:1,true:2) eq 2"), &others).await;
        }
        differences.end();
    }

    async fn two_conditions_make_what_their_truths_make(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        stock(&boss).await;
        let mut differences = Differences { client: &boss, lines: Vec::new() };
        for (place, (a, first)) in ATOMS.iter().enumerate() {
            for (other, (b, second)) in ATOMS.iter().enumerate().skip(place + 1).step_by(3) {
                // Some pairs, each in one of five ways.
                let (condition, expected) = match (place + other) % 5 {
                    0 => (format!("{a} and not ({b})"), expected(|it| first(it) && !second(it))),
                    1 => (format!("not ({a}) or {b}"), expected(|it| !first(it) || second(it))),
                    2 => (format!("not ({a} and {b})"), expected(|it| !(first(it) && second(it)))),
                    3 => (format!("not ({a} or not ({b}))"), expected(|it| !first(it) && second(it))),
                    _ => (format!("({a}) ne ({b})"), expected(|it| first(it) != second(it))),
                };
                differences.try_condition(&condition, &expected).await;
            }
        }
        differences.end();
    }

    async fn a_condition_is_a_value_that_is_never_null(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        stock(&boss).await;
        let mut wrong = Vec::new();
        for (atom, holds) in ATOMS {
            let address = path("Lamps", &format!("$compute={atom} as holds&$select=holds&$orderby=sku"));
            let page = boss.get(&address).await.expect(200);
            let found: Vec<&Value> = page["value"].as_array().unwrap().iter().map(|lamp| &lamp["holds"]).collect();
            let truths: Vec<bool> = LAMPS.iter().map(holds).collect();
            if found != truths {
                wrong.push(format!("{atom}: {found:?}, not {truths:?}"));
            }
            // Sorted by it, those that don't hold it come first.
            let sorted = boss.get(&path("Lamps", &format!("$orderby={atom},sku desc&$select=sku"))).await.expect(200);
            let mut lamps: Vec<&Lamp> = LAMPS.iter().rev().collect();
            lamps.sort_by_key(|lamp| holds(lamp));
            let lamps: Vec<Value> = lamps.iter().map(|lamp| json!(lamp.sku)).collect();
            let found: Vec<Value> = sorted["value"].as_array().unwrap().iter().map(|lamp| lamp["sku"].clone()).collect();
            if found != lamps {
                wrong.push(format!("sorted by {atom}: {found:?}, not {lamps:?}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    async fn conditions_on_what_a_maker_makes_mean_the_same_within_any_and_all(backend) {
        let app = start(backend).await;
        let boss = app.sign_in(&Person::named("boss"));
        stock(&boss).await;
        // Those that stay within the lamp itself.
        let atoms: [(&str, Holds); 6] = [
            ("l/watts gt 20", |it| it.watts > Some(20)),
            ("l/watts eq null", |it| it.watts.is_none()),
            ("l/watts ne 7", |it| it.watts != Some(7)),
            ("l/soldFrom lt 2026-01-01T00:00:00Z", |it| it.sold == Some(false)),
            ("l/price gt 15", |it| it.price > 150),
            ("l/watts in (null,60)", |it| it.watts.is_none_or(|watts| watts == 60)),
        ];
        let makers = [("Beta", BETA), ("Älpha", ALPHA)];
        for (place, (a, first)) in atoms.into_iter().enumerate() {
            for (b, second) in atoms.into_iter().skip(place + 1) {
                let of = |maker| LAMPS.iter().filter(move |lamp| lamp.maker == maker);
                let both = |lamp: &Lamp| first(lamp) && !second(lamp);
                for (condition, holds) in [
                    (format!("lamps/any(l:{a} and not ({b}))"), makers.map(|(_, maker)| of(maker).any(both))),
                    (format!("not lamps/any(l:{a} and not ({b}))"), makers.map(|(_, maker)| !of(maker).any(both))),
                    (format!("lamps/all(l:not ({a}) or {b})"), makers.map(|(_, maker)| of(maker).all(|lamp| !both(lamp)))),
                    (format!("lamps/$count($filter={}) eq 1", format!("{a} and not ({b})").replace("l/", "")), makers.map(|(_, maker)| of(maker).filter(|lamp| both(lamp)).count() == 1)),
                ] {
                    let page = boss.get(&path("Makers", &format!("$filter={condition}&$orderby=discount desc"))).await.expect(200);
                    let found: Vec<&str> = page["value"].as_array().unwrap().iter().map(|maker| maker["name"].as_str().unwrap()).collect();
                    let expected: Vec<&str> = makers.iter().zip(holds).filter(|(_, holds)| *holds).map(|((name, _), _)| *name).collect();
                    assert_eq!(found, expected, "{condition}");
                }
            }
        }
    }
}
