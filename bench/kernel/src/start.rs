//! How fast the released shop is ready, and how much memory it takes when nothing happens.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use bench_rounds::median;

pub(crate) fn measure() {
    let built = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/release/shop");
    let binary = std::env::var("SVC_SHOP_BINARY").unwrap_or_else(|_| built.to_owned());
    if !std::path::Path::new(&binary).exists() {
        println!("  (no `{binary}`: build it with `cargo build --release -p shop`)");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // The first start makes the file and loads the sample data.
    let (first_ms, _) = start(&binary, folder.path());
    let (mut ready_ms, mut resident_mib) = (Vec::new(), Vec::new());
    for _ in 0..5 {
        let (ms, mib) = start(&binary, folder.path());
        ready_ms.push(ms);
        resident_mib.push(mib);
    }
    println!("  first start, with sample data      {first_ms:>6.0} ms to ready");
    println!(
        "  further starts                     {:>6.0} ms to ready, goal 500",
        median(ready_ms)
    );
    println!("  resident after two idle seconds    {:>6.1} MiB, goal 80 MB", median(resident_mib));
}

/// Starts the program, and says how long it took to get ready and how much memory it then has.
fn start(binary: &str, folder: &std::path::Path) -> (f64, f64) {
    let began = Instant::now();
    let mut process = Command::new(binary)
        .current_dir(folder)
        .args(["--Svc:Http:Listen=127.0.0.1:0", "--Svc:Telemetry:LogFilter=warn"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
    while !lines.next().unwrap().unwrap().contains("is ready: ") {}
    let ready_ms = began.elapsed().as_secs_f64() * 1_000.0;
    std::thread::sleep(Duration::from_secs(2));
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.id())).unwrap();
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    let resident_kib: f64 = resident.trim().trim_end_matches(" kB").parse().unwrap();
    process.kill().unwrap();
    process.wait().unwrap();
    (ready_ms, resident_kib / 1_024.0)
}
