//! Logs and traces belong to a process, so these tests start this binary once more and look at
//! what it writes and sends.

use std::process::{Output, Stdio};
use std::time::Duration;

use http::Method;
use http_body_util::BodyExt as _;
use svc_core::settings::{LoadOptions, Settings};
use svc_http::{TelemetrySettings, init_telemetry};
use svc_testing::Backend;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpListener;

use crate::fixture::{ADA, Call, Fixture, PAUSE};

const ARGUMENTS: &str = "SVC_HTTP_TEST_TELEMETRY";
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

/// Does a few requests with the telemetry that the variable describes; without it, nothing.
#[tokio::test]
async fn in_a_process_of_its_own() {
    let Ok(arguments) = std::env::var(ARGUMENTS) else { return };
    let arguments = arguments.split_whitespace().map(str::to_owned).collect();
    let mut settings = Settings::load(&LoadOptions { arguments, ..LoadOptions::default() });
    settings.declare::<TelemetrySettings>();
    let settings = settings.finish().unwrap();
    let telemetry = init_telemetry(&settings.section::<TelemetrySettings>(), "shelf").unwrap();
    let fixture = Fixture::start(Backend::Sqlite).await;
    let parent = format!("00-{TRACE}-00f067aa0ba902b7-01");
    let call = Call::get("/try/fault?token=hunter2").by(ADA).header("traceparent", parent);
    let failed = fixture.send(call).await;
    assert_eq!(failed.json()["traceId"], TRACE);
    fixture.get("/api/v1/greeting").await.expect(200);
    let whole = fixture.send(Call::new(Method::POST, "/try/pieces")).await;
    assert_eq!(whole.text(), "a piecea piece");
    let mut left = fixture.begin(Call::new(Method::POST, "/try/pieces?left")).await.into_body();
    left.frame().await.unwrap().unwrap();
    drop(left);
    tokio::task::spawn_blocking(move || drop(telemetry)).await.unwrap();
}

async fn run(arguments: &str) -> Output {
    tokio::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "telemetry::in_a_process_of_its_own", "--nocapture"])
        .env(ARGUMENTS, arguments)
        .stdin(Stdio::null())
        .output()
        .await
        .unwrap()
}

#[tokio::test]
async fn a_failure_is_logged_once_with_its_cause_and_without_the_query() {
    let output = run("--Svc:Telemetry:LogFormat=json").await;
    let log = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{log}");
    let lines: Vec<serde_json::Value> =
        log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let errors: Vec<_> = lines.iter().filter(|line| line["level"] == "ERROR").collect();
    assert_eq!(errors.len(), 1, "{log}");
    assert_eq!(errors[0]["message"], "a request failed");
    assert_eq!(errors[0]["route"], "/try/fault");
    assert!(errors[0]["error"].as_str().unwrap().ends_with("table secrets is locked"));
    assert_eq!(errors[0]["span"]["trace"], TRACE);
    assert!(!log.contains("hunter2"), "{log}");
    assert!(!log.contains("token-of-ada"), "{log}");
    // Reads that succeed are silent at `info`.
    assert!(!log.contains("greeting"), "{log}");
}

#[tokio::test]
async fn what_is_sent_in_pieces_is_logged_when_it_was_sent() {
    let output = run("--Svc:Telemetry:LogFormat=json").await;
    let log = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{log}");
    let lines: Vec<serde_json::Value> =
        log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let pieces: Vec<_> = lines.iter().filter(|line| line["route"] == "/try/pieces").collect();
    let told: Vec<_> = pieces.iter().filter_map(|line| line["message"].as_str()).collect();
    assert_eq!(told, ["request", "an answer was not sent to its end"], "{log}");
    let milliseconds = |name: &str| pieces[0][name].as_f64().unwrap();
    let pause = milliseconds("duration_ms") - milliseconds("first_byte_ms");
    assert!(pause >= PAUSE.as_secs_f64() * 900.0, "{log}");
    assert!(pieces.iter().all(|line| line["span"]["trace"].is_string()), "{log}");
}

#[tokio::test]
async fn traces_reach_a_collector() {
    let collector = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", collector.local_addr().unwrap());
    let received = tokio::spawn(async move {
        let (mut connection, _) = collector.accept().await.unwrap();
        let mut bytes = Vec::new();
        let mut part = [0; 8192];
        // The service's name stands before the spans; the exporter waits for an answer.
        while !contains(&bytes, b"GET /api/v1/greeting") {
            let count = connection.read(&mut part).await.unwrap();
            assert!(count > 0, "the exporter sent {}", String::from_utf8_lossy(&bytes));
            bytes.extend_from_slice(&part[..count]);
        }
        let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
        tokio::io::AsyncWriteExt::write_all(&mut connection, answer).await.unwrap();
        bytes
    });
    let output = run(&format!(
        "--Svc:Telemetry:OtlpEndpoint={endpoint} --Svc:Telemetry:ServiceName=shelf-of-a-test \
         --Svc:Telemetry:LogFilter=error"
    ))
    .await;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let bytes = tokio::time::timeout(Duration::from_secs(20), received).await.unwrap().unwrap();
    let trace: Vec<u8> = TRACE
        .as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect();
    for part in [
        b"POST /v1/traces".as_slice(),
        b"shelf-of-a-test",
        b"GET /try/fault",
        b"http.response.status_code",
        trace.as_slice(),
    ] {
        assert!(contains(&bytes, part), "{} is not exported", String::from_utf8_lossy(part));
    }
    assert!(!contains(&bytes, b"hunter2"));
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}
