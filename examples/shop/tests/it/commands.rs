//! The built program, as an operator calls it.

use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use svc_testing::{Backend, Program, ThrowAwayDatabase, on_both_databases};

const BINARY: &str = env!("CARGO_BIN_EXE_shop");

fn settings(database: &ThrowAwayDatabase) -> Vec<String> {
    vec![
        format!("--Svc:Database:Url={}", database.url()),
        "--Svc:DataProtection:Keys:0=AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=".to_owned(),
        "--Svc:Http:Listen=127.0.0.1:0".to_owned(),
        "--Svc:Sample:Data=false".to_owned(),
    ]
}

/// Runs a command to its end.
fn command(database: &ThrowAwayDatabase, words: &[&str]) -> Output {
    let mut process = Command::new(BINARY);
    process.current_dir(std::env::temp_dir()).args(words).args(settings(database));
    process.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Begins to serve, and waits until it does.
fn serve(database: &ThrowAwayDatabase) -> Program {
    let folder: &Path = &std::env::temp_dir();
    let mut program = Program::begin(BINARY, folder, &settings(database));
    assert!(program.url_within(Duration::from_mins(1)).is_some(), "it serves");
    program
}

on_both_databases! {
    async fn who_looks_after_queues_upgrades_no_database(backend) {
        let database = ThrowAwayDatabase::empty(backend).await;
        for words in [["outbox", "list"], ["jobs", "list"]] {
            let refused = command(&database, &words);
            assert_eq!(refused.status.code(), Some(1), "{refused:?}");
            let said = text(&refused.stderr);
            assert!(said.contains("pending") && said.contains("`shop migrate`"), "{said}");
        }
        let pending = command(&database, &["migrate", "--dry-run"]);
        assert!(!text(&pending.stdout).contains("up to date"), "{pending:?}");
        assert!(command(&database, &["migrate"]).status.success());
        for words in [["outbox", "list"], ["jobs", "list"]] {
            let listed = command(&database, &words);
            assert!(listed.status.success(), "{listed:?}");
            assert!(text(&listed.stdout).contains("failed for good"), "{listed:?}");
        }
    }

    async fn an_operator_has_a_job_run_now(backend) {
        let database = ThrowAwayDatabase::empty(backend).await;
        assert!(command(&database, &["migrate"]).status.success());
        let run = |name: &str| command(&database, &["jobs", "run", name]);
        let first = run("webhooks.retention");
        assert!(first.status.success(), "{first:?}");
        assert!(text(&first.stdout).contains("waits to run"), "{first:?}");
        let second = run("webhooks.retention");
        assert!(text(&second.stdout).contains("waits or runs already"), "{second:?}");
        let unknown = run("webhooks.nothing");
        assert_eq!(unknown.status.code(), Some(1), "{unknown:?}");
        assert!(text(&unknown.stderr).contains("webhooks.retention"), "{unknown:?}");
        let help = command(&database, &["--help"]);
        for listed in ["serve", "outbox", "jobs", "--version"] {
            assert!(text(&help.stdout).contains(listed), "{help:?}");
        }
        let version = command(&database, &["--version"]);
        assert_eq!(text(&version.stdout), format!("shop {}\n", env!("CARGO_PKG_VERSION")));
    }

    async fn a_second_process_serves_the_same_database_only_where_it_may(backend) {
        let database = ThrowAwayDatabase::empty(backend).await;
        let first = serve(&database);
        if backend == Backend::Postgres {
            serve(&database);
            return;
        }
        let second = command(&database, &["serve"]);
        assert_eq!(second.status.code(), Some(1), "{second:?}");
        let said = text(&second.stderr);
        assert!(said.contains("another process serves the database"), "{said}");
        let listed = command(&database, &["outbox", "list"]);
        assert!(listed.status.success(), "commands run beside it: {listed:?}");
        // One that is killed leaves nothing that would stop the next.
        first.kill();
        serve(&database);
    }
}
