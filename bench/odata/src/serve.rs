//! The process that answers: the application on one port, the bare handlers on another, both on
//! the same connections.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use svc_database::Database;
use tokio::net::TcpListener;
use uuid::Uuid;

use crate::{bare, model, seed};

/// That process, which ends with this value.
pub(crate) struct Serving {
    process: Child,
    pub(crate) ours: SocketAddr,
    pub(crate) bare: SocketAddr,
    pub(crate) organisation: Uuid,
}

/// Fills an empty database.
pub(crate) fn seed(url: &str) {
    let status = Command::new(std::env::current_exe().unwrap()).args(["seed", url]).status();
    assert!(status.unwrap().success(), "the database could not be filled");
}

impl Serving {
    pub(crate) fn start(url: &str) -> Self {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["serve", url])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        let [ours, bare, organisation] = words[..] else { panic!("it doesn't start: {line}") };
        Self {
            process,
            ours: ours.parse().unwrap(),
            bare: bare.parse().unwrap(),
            organisation: organisation.parse().unwrap(),
        }
    }

    /// Seconds of processor time that it has used.
    pub(crate) fn cpu_seconds(&self) -> f64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.process.id())).unwrap();
        // The name in brackets may hold anything; what follows it is numbers.
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        let ticks: f64 = fields[11..=12].iter().map(|ticks| ticks.parse::<f64>().unwrap()).sum();
        // Linux counts a hundred a second for every program.
        ticks / 100.0
    }

    /// Mebibytes of memory that it holds.
    pub(crate) fn resident_mib(&self) -> f64 {
        let path = format!("/proc/{}/status", self.process.id());
        let status = std::fs::read_to_string(path).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<f64>().unwrap() / 1_024.0
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // It holds nothing that is missed: the database is thrown away.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The process itself.
pub(crate) async fn run(url: &str) {
    let running = model::start(url).await;
    let database = running.app().service::<Database>().unwrap();
    let organisation = seed::organisation(&database).await;
    let server = running.bind().await.unwrap();
    let ours = server.local_addr();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let bare = listener.local_addr().unwrap();
    let router = bare::router(&database).await;
    tokio::spawn(async move { axum::serve(bare::NoDelay(listener), router).await });
    println!("{ours} {bare} {organisation}");
    server.serve(std::future::pending()).await.unwrap();
}
