//! Requests per second with each credential, over real sockets, from a process of its own.

use bench_rounds::median;
use svc_testing::Backend;

use crate::house::{API_KEY, House, KNOWN, KNOWN_PRODUCTS, OPEN, OPEN_PRODUCTS};
use crate::load::{Load, measure_from_another_process};

const ROUNDS: usize = 7;

pub(crate) async fn measure(backend: Backend) {
    let house = House::open(backend).await;
    let bearer = format!("Bearer {}", house.access_token);
    let key = format!("Bearer {API_KEY}");
    let load =
        |path: &str, headers: &[(&str, &str)]| Load::new(house.address, house.front, path, headers);
    let browser = |cookie| [("cookie", cookie), ("x-csrf", "1"), ("sec-fetch-site", "same-origin")];
    let answers = [("products", OPEN_PRODUCTS, KNOWN_PRODUCTS), ("a number", OPEN, KNOWN)];
    for ((answer, open, known), connections) in
        answers.into_iter().flat_map(|answer| [1, 16].map(|connections| (answer, connections)))
    {
        let nothing = load(open, &[]);
        // As long a head as a token's, of which nobody reads anything.
        let filler = "x".repeat(bearer.len());
        let long = load(open, &[("authorisation", &filler)]);
        let by_key = load(known, &[("authorization", &key)]);
        let by_token = load(known, &[("authorization", &bearer)]);
        let by_cookie = load(known, &browser(&house.cookie));
        let through_host =
            Load::new(house.front, house.front, known, &browser(&house.front_cookie));
        let compare = |what: &str, one: &Load, other: &Load, goal: f64| {
            let (mut ones, mut others, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
            let (mut cpus, mut other_cpus) = (Vec::new(), Vec::new());
            for _ in 0..ROUNDS {
                let slow = measure_from_another_process(other, connections);
                let fast = measure_from_another_process(one, connections);
                ratios.push(fast.rate / slow.rate);
                ones.push(fast.rate);
                others.push(slow.rate);
                cpus.push(fast.cpu_us);
                other_cpus.push(slow.cpu_us);
            }
            println!(
                "  {backend:?}, {answer}, {connections:>2} connections, {what:<36} {:>8.0}/s  {:>8.0}/s  ratio {:.2}, goal {goal}; {:>4.0} and {:>4.0} µs of the program",
                median(ones),
                median(others),
                median(ratios),
                median(cpus),
                median(other_cpus),
            );
        };
        compare("API key beside nothing", &by_key, &nothing, 0.95);
        compare("access token beside nothing", &by_token, &nothing, 0.95);
        compare("as long a head beside nothing", &long, &nothing, 0.95);
        compare("cookie beside access token", &by_cookie, &by_token, 0.8);
        compare("host of its own beside access token", &through_host, &by_token, 0.8);
    }
}
