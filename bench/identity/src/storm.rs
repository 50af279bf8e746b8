//! What signing in costs beside argon2, and what a hundred who do it at once mean for everybody else: by the
//! form of the account pages, over sockets.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use argon2::password_hash::PasswordHasher as _;
use argon2::password_hash::phc::PasswordHash;
use argon2::{Algorithm, Argon2, Params, Version};
use bench_rounds::median;
use svc_data::Context;
use svc_identity::users::{self, NewUser};
use svc_testing::Backend;

use crate::house::{House, KNOWN, PASSWORD};
use crate::load::{Load, ask};

const PEOPLE: usize = 100;

/// How often one person signs in alone, in turns with a bare hash.
const ALONE: usize = 41;

pub(crate) async fn measure(backend: Backend) {
    let house = House::open(backend).await;
    let bearer = format!("Bearer {}", house.access_token);
    let load = Load::new(house.address, house.front, KNOWN, &[("authorization", &bearer)]);
    let began = Instant::now();
    let calm = load.latencies_until(|| began.elapsed() > Duration::from_secs(2)).await;
    invite(&house).await;

    let (mut alone, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..ALONE {
        let form = Form::open(&house, 0).await;
        let began = Instant::now();
        form.send().await;
        alone.push(began.elapsed().as_secs_f64() * 1_000.0);
        bare.push(tokio::task::spawn_blocking(hash_once).await.unwrap());
    }
    let (alone_ms, bare_ms) = (median(alone), median(bare));
    println!(
        "  {backend:?}: a sign-in takes {alone_ms:.1} ms, argon2 alone {bare_ms:.1} ms, ratio {:.2}",
        alone_ms / bare_ms
    );

    let mut forms = Vec::new();
    for number in 0..PEOPLE {
        forms.push(Form::open(&house, number).await);
    }
    let is_over = Arc::new(AtomicBool::new(false));
    let watch = {
        let (load, is_over) = (load.clone(), Arc::clone(&is_over));
        tokio::spawn(async move { load.latencies_until(|| is_over.load(Ordering::Relaxed)).await })
    };
    let began = Instant::now();
    let everybody: Vec<_> = forms.into_iter().map(|form| tokio::spawn(form.send())).collect();
    for person in everybody {
        person.await.unwrap();
    }
    let all_ms = began.elapsed().as_secs_f64() * 1_000.0;
    is_over.store(true, Ordering::Relaxed);
    let storm = watch.await.unwrap();
    println!(
        "  {backend:?}: a request takes {} alone, {} meanwhile; {PEOPLE} sign-ins take {all_ms:.0} ms",
        described(calm),
        described(storm),
    );
}

/// Makes the people who sign in.
async fn invite(house: &House) {
    let ctx = Context::system_in(house.app.app(), house.organisation).unwrap();
    for number in 0..PEOPLE {
        let new = NewUser {
            email: email(number),
            display_name: format!("Person {number}"),
            password: Some(PASSWORD.into()),
            ..NewUser::default()
        };
        users::create(&ctx, new).await.unwrap();
    }
}

fn email(number: usize) -> String {
    format!("person{number}@example.com")
}

/// How long one hash of the cost in use takes, in milliseconds.
fn hash_once() -> f64 {
    let cost = Params::new(19 * 1024, 2, 1, None).unwrap();
    let hasher = Argon2::new(Algorithm::Argon2id, Version::V0x13, cost);
    let began = Instant::now();
    let _: PasswordHash = hasher.hash_password_with_salt(PASSWORD.as_bytes(), &[7; 16]).unwrap();
    began.elapsed().as_secs_f64() * 1_000.0
}

/// The page of a browser that is about to sign in, from an address of its own.
struct Form {
    address: SocketAddr,
    host: SocketAddr,
    number: usize,
    cookie: String,
    token: String,
}

impl Form {
    async fn open(house: &House, number: usize) -> Self {
        let (address, host) = (house.address, house.front);
        let head = format!("GET /account/sign-in HTTP/1.1\r\nhost: {host}\r\n");
        let page = ask(address, &format!("{head}connection: close\r\n\r\n")).await;
        let between = |before: &str, after: char| {
            let (_, rest) = page.split_once(before).unwrap_or_else(|| panic!("{page}"));
            rest.split(after).next().unwrap().to_owned()
        };
        let (cookie, token) =
            (between("set-cookie: ", ';'), between("name=\"form\" value=\"", '"'));
        Self { address, host, number, cookie, token }
    }

    async fn send(self) {
        let Self { address, host, number, cookie, token } = self;
        let body = form_urlencoded::Serializer::new(String::new())
            .append_pair("form", &token)
            .append_pair("email", &email(number))
            .append_pair("password", PASSWORD)
            .finish();
        let length = body.len();
        let request = format!(
            "POST /account/sign-in HTTP/1.1\r\nhost: {host}\r\ncookie: {cookie}\r\n\
             x-forwarded-for: 192.0.2.{number}\r\nsec-fetch-site: same-origin\r\n\
             content-type: application/x-www-form-urlencoded\r\n\
             content-length: {length}\r\nconnection: close\r\n\r\n{body}"
        );
        let answer = ask(address, &request).await;
        assert!(answer.starts_with("HTTP/1.1 303"), "{answer}");
    }
}

fn described(mut figures: Vec<f64>) -> String {
    figures.sort_by(f64::total_cmp);
    let worst = figures.last().copied().unwrap_or_default();
    format!("{:.1} ms (worst {worst:.1} ms)", median(figures))
}
