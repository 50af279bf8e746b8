//! How much memory an answer of all products takes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::io::AsyncReadExt as _;

use crate::load::Load;
use crate::model::API_KEY;
use crate::seed::PRODUCTS;
use crate::serve::Serving;

const GOAL_MIB: f64 = 20.0;

pub(crate) async fn measure(serving: &Arc<Serving>) {
    // The first page opens connections and fills caches, which stay.
    let page = Load::get(serving.ours, "/odata/v1/Products", API_KEY);
    let _ = page.per_second(4, Duration::from_millis(500)).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    for (name, path) in [
        ("all, as they come", "/odata/v1/Products"),
        ("all by name", "/odata/v1/Products?$orderby=name"),
        ("all by price, without an index", "/odata/v1/Products?$orderby=price"),
        ("all with category and lines", "/odata/v1/Products?$expand=category,lines"),
    ] {
        for pause in [Duration::ZERO, Duration::from_millis(2)] {
            stream(serving, name, path, pause).await;
        }
    }
}

/// Reads the answer with pauses, and prints the most memory that the process held meanwhile.
async fn stream(serving: &Arc<Serving>, name: &str, path: &str, pause: Duration) {
    let idle = serving.resident_mib();
    let done = Arc::new(AtomicBool::new(false));
    let watched = {
        let (serving, done) = (Arc::clone(serving), Arc::clone(&done));
        std::thread::spawn(move || {
            let mut most = 0.0_f64;
            while !done.load(Ordering::Relaxed) {
                most = most.max(serving.resident_mib());
                std::thread::sleep(Duration::from_millis(5));
            }
            most
        })
    };
    let began = Instant::now();
    let load = Load::new(
        serving.ours,
        &format!("GET {path}"),
        API_KEY,
        &format!("prefer: odata.maxpagesize={PRODUCTS}\r\nconnection: close\r\n"),
        "",
    );
    let mut stream = load.send().await;
    let (mut buffer, mut rows, mut read, mut end) = (vec![0; 262_144], 0, 0, Vec::new());
    loop {
        let count = stream.read(&mut buffer).await.unwrap();
        if count == 0 {
            break;
        }
        read += count;
        // Every product has one, and it is short enough to be cut apart rarely.
        rows += buffer[..count].windows(6).filter(|six| six == b"\"sku\":").count();
        end.extend_from_slice(&buffer[count.saturating_sub(64)..count]);
        if end.len() > 64 {
            end.drain(..end.len() - 64);
        }
        tokio::time::sleep(pause).await;
    }
    let took = began.elapsed();
    done.store(true, Ordering::Relaxed);
    let most = watched.join().unwrap();
    assert!(rows as u64 > PRODUCTS * 99 / 100, "only {rows} products came");
    let end = String::from_utf8_lossy(&end);
    assert!(end.contains("]}") && end.ends_with("\r\n0\r\n\r\n"), "it ends with {end:?}");
    println!(
        "  {name:<32} {:>6.1} MB in {:>6.2} s, {:>5.1} MiB above idle ({idle:.1}), goal {GOAL_MIB}",
        read as f64 / 1e6,
        took.as_secs_f64(),
        most - idle,
    );
}
