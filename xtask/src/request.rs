//! The command line of `cargo xtask test`.

use crate::failure::{Failure, Result};

/// How many test programs run at a time when they are repeated.
pub(crate) const JOBS_OF_REPEATS: usize = 4;

const USAGE: &str = "usage: cargo xtask test [--only <what>]… [--repeat <times>] [--released] [--list]

  --only <what>     a step, a crate, some tests of a crate (`svc-data::sets::page`), a folder or a file
  --repeat <times>  runs each test program so often, four at a time, to find what fails now and then
  --released        end-to-end tests drive the program as it is released
  --list            prints the names of the steps";

/// What the command line asks for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Request {
    /// What shall run: all when nothing is named.
    pub(crate) only: Vec<String>,
    /// How often each test program runs, when not just once.
    pub(crate) repeat: Option<usize>,
    /// Whether end-to-end tests drive the release build.
    pub(crate) released: bool,
    /// Whether only the names of the steps are asked for.
    pub(crate) list: bool,
}

impl Request {
    /// Reads the arguments.
    pub(crate) fn parse(arguments: &[String]) -> Result<Self> {
        let mut request = Self::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let (name, joined) = match argument.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (argument.as_str(), None),
            };
            let mut value = || joined.clone().or_else(|| rest.next().cloned()).ok_or_else(usage);
            match name {
                "--only" => request.only.push(value()?),
                "--repeat" => request.repeat = Some(times(&value()?)?),
                "--released" => request.released = true,
                "--list" => request.list = true,
                _ => return Err(usage()),
            }
        }
        Ok(request)
    }
}

fn times(text: &str) -> Result<usize> {
    let times = text.parse().ok().filter(|times| *times > 0);
    times.ok_or_else(|| Failure::new(format!("`--repeat` needs a number from 1, not `{text}`")))
}

fn usage() -> Failure {
    Failure::new(USAGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Request> {
        Request::parse(&arguments.iter().map(|&each| each.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn reads_what_to_run() {
        let only = |names: &[&str]| Request {
            only: names.iter().map(|&name| name.to_owned()).collect(),
            ..Request::default()
        };
        assert_eq!(parse(&[]).unwrap(), only(&[]));
        assert_eq!(parse(&["--only", "doc", "--only=shop"]).unwrap(), only(&["doc", "shop"]));
        assert_eq!(parse(&["--list"]).unwrap(), Request { list: true, ..Request::default() });
        let often = Request { repeat: Some(50), released: true, ..only(&["shop"]) };
        assert_eq!(parse(&["--only", "shop", "--repeat", "50", "--released"]).unwrap(), often);
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        for wrong in [&["--only"][..], &["doc"], &["--repeat", "0"], &["--repeat=often"]] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
