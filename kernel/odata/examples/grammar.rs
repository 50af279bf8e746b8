//! Holds the parser against a list of cases.
//!
//! Reads JSON lines from standard input, each with the name of a rule of the standard's ABNF and a
//! text, and answers each with a line that says whether the text is what the rule describes, and
//! if not, at which offset that shows:
//!
//! ```console
//! $ echo '{"rule":"filter","input":"$filter=Name eq"}' | cargo run -q -p svc-odata --example grammar
//! {"ok":false,"at":12}
//! ```
//!
//! Further members of a line are ignored.

use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use serde::Deserialize;
use svc_odata::grammar;

#[derive(Deserialize)]
struct Case {
    rule: String,
    input: String,
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> io::Result<()> {
    let mut output = io::BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let answer = match serde_json::from_str::<Case>(&line) {
            Err(cause) => serde_json::json!({ "error": cause.to_string() }),
            Ok(case) => match grammar::check(&case.rule, &case.input) {
                Some(Ok(())) => serde_json::json!({ "ok": true }),
                Some(Err(at)) => serde_json::json!({ "ok": false, "at": at }),
                None => serde_json::json!({ "error": format!("unknown rule `{}`", case.rule) }),
            },
        };
        writeln!(output, "{answer}")?;
    }
    output.flush()
}
