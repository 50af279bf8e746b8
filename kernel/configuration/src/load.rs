//! Gathers what files, environment and command line say.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use crate::file;
use crate::problem::SettingProblem;
use crate::source::Source;
use crate::tree::{Conflict, Node};

/// The file that is read when nothing else is named.
const DEFAULT_FILE: &str = "svc.toml";

/// The sources that settings are read from; the default has none.
#[derive(Clone, Default)]
pub struct LoadOptions {
    /// Where `svc.toml` is looked for, and what relative names of files start from.
    pub working_directory: Option<PathBuf>,
    /// The configuration file, before `SVC_CONFIG`; it must exist.
    pub config_file: Option<PathBuf>,
    /// The name of the environment, before `SVC_ENVIRONMENT`.
    pub environment: Option<String>,
    /// All environment variables; those of others are passed over.
    pub environment_variables: Vec<(OsString, OsString)>,
    /// The command line without the program's name.
    pub arguments: Vec<String>,
}

impl LoadOptions {
    /// The sources of this process: its working directory, environment and command line.
    #[must_use]
    pub fn from_process() -> Self {
        let arguments = std::env::args_os().skip(1);
        Self {
            // Without a working directory relative names mean the same and are tried as they are.
            working_directory: Some(std::env::current_dir().unwrap_or_default()),
            config_file: None,
            environment: None,
            environment_variables: std::env::vars_os().collect(),
            arguments: arguments.map(|text| text.to_string_lossy().into_owned()).collect(),
        }
    }

    /// The value of a variable that is not a setting itself; set to nothing means not set.
    fn variable(&self, name: &str) -> Option<&OsString> {
        self.environment_variables
            .iter()
            .find(|(variable, _)| variable.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
            .filter(|value| !value.is_empty())
    }
}

impl fmt::Debug for LoadOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Variables and arguments may hold secrets, of this program and of others.
        formatter
            .debug_struct("LoadOptions")
            .field("working_directory", &self.working_directory)
            .field("config_file", &self.config_file)
            .field("environment", &self.environment)
            .finish_non_exhaustive()
    }
}

/// A file that was looked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConsultedFile {
    /// Its path, as messages show it.
    pub path: String,
    /// Whether it was there.
    pub found: bool,
}

/// Everything that was gathered, the winning source last.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    pub(crate) sources: Vec<Node>,
    pub(crate) files: Vec<ConsultedFile>,
    pub(crate) environment: Option<String>,
    pub(crate) arguments: Vec<String>,
    pub(crate) problems: Vec<SettingProblem>,
}

pub(crate) fn load(options: &LoadOptions) -> Loaded {
    let mut loaded = Loaded::default();
    loaded.environment = loaded.environment_name(options);
    loaded.read_files(options);
    loaded.read_variables(options);
    loaded.read_arguments(&options.arguments);
    loaded
}

impl Loaded {
    fn environment_name(&mut self, options: &LoadOptions) -> Option<String> {
        let variable = || options.variable("SVC_ENVIRONMENT");
        let name = options
            .environment
            .clone()
            .or_else(|| variable().map(|name| name.to_string_lossy().into_owned()))?;
        let plain = name.chars().all(|each| each.is_ascii_alphanumeric() || "-_".contains(each));
        if plain && !name.is_empty() {
            return Some(name);
        }
        let message = "expected the name of an environment in letters, digits, `-` and `_`";
        let problem = SettingProblem {
            key: Some("SVC_ENVIRONMENT".to_owned()),
            value: None,
            source: None,
            message: message.to_owned(),
        };
        self.problems.push(problem.with_value(&name));
        None
    }

    fn read_files(&mut self, options: &LoadOptions) {
        let named = options
            .config_file
            .clone()
            .or_else(|| options.variable("SVC_CONFIG").map(PathBuf::from));
        let must_exist = named.is_some();
        let base = match (named, &options.working_directory) {
            (Some(named), _) => named,
            (None, Some(_)) => PathBuf::from(DEFAULT_FILE),
            (None, None) => return,
        };
        let root = options.working_directory.clone().unwrap_or_default();
        let found = self.read_file(&root, &base);
        if must_exist && !found {
            let message = "there is no such file; it is named as the configuration file";
            self.problems.push(SettingProblem::of_source(base.display(), message.to_owned()));
        }
        if let Some(environment) = &self.environment {
            let variant = variant_of(&base, environment);
            self.read_file(&root, &variant);
        }
    }

    fn read_file(&mut self, root: &Path, path: &Path) -> bool {
        let name = path.display().to_string();
        let read = file::read(&root.join(path), &name, &mut self.problems);
        let found = read.is_some();
        self.sources.extend(read.and_then(Result::ok));
        self.files.push(ConsultedFile { path: name, found });
        found
    }

    fn read_variables(&mut self, options: &LoadOptions) {
        let mut root = Node::empty(Source::Default);
        let mut variables: Vec<&(OsString, OsString)> =
            options.environment_variables.iter().collect();
        // The order of an environment is arbitrary; that of the messages should not be.
        variables.sort();
        for (variable, value) in variables {
            let variable = variable.to_string_lossy();
            if !variable.get(..5).is_some_and(|prefix| prefix.eq_ignore_ascii_case("svc__")) {
                continue;
            }
            let key = variable.replace("__", ":");
            let source = Source::Environment { variable: Arc::from(&*variable) };
            match value.to_str() {
                Some(value) => self.insert(&mut root, &key, value, &source),
                None => self.problems.push(SettingProblem::of_key(
                    key,
                    &source,
                    "expected text in UTF-8".to_owned(),
                )),
            }
        }
        self.sources.push(root);
    }

    fn read_arguments(&mut self, arguments: &[String]) {
        let mut root = Node::empty(Source::Default);
        let mut rest = arguments.iter().peekable();
        while let Some(argument) = rest.next() {
            if argument == "--" {
                self.arguments.push(argument.clone());
                self.arguments.extend(rest.by_ref().cloned());
                break;
            }
            let Some(setting) = setting_argument(argument) else {
                self.arguments.push(argument.clone());
                continue;
            };
            let (key, value) = match setting {
                (key, Some(value)) => (key, Some(value)),
                (key, None) => {
                    (key, rest.next_if(|next| !next.starts_with("--")).map(String::as_str))
                }
            };
            match value {
                Some(value) => self.insert(&mut root, key, value, &Source::CommandLine),
                None => self.problems.push(SettingProblem::of_key(
                    key.to_owned(),
                    &Source::CommandLine,
                    format!("a value is missing; write `--{key}=value`"),
                )),
            }
        }
        self.sources.push(root);
    }

    fn insert(&mut self, root: &mut Node, key: &str, value: &str, source: &Source) {
        let path: Vec<&str> = key.split(':').collect();
        let replace = *source == Source::CommandLine;
        let message = if path.iter().any(|part| part.is_empty()) {
            "a part of the key is empty; write it as in `Svc:Section:Key`, in a variable as in \
             `Svc__Section__Key`"
                .to_owned()
        } else {
            match root.insert(&path, value.to_owned(), source, replace) {
                Ok(()) => return,
                Err(Conflict::Twice(other)) => format!("given twice, also by {other}; keep one"),
                Err(Conflict::ValueAndTable(other)) => {
                    format!("given both a value and keys below it, see {other}; keep one")
                }
            }
        };
        self.problems.push(SettingProblem::of_key(key.to_owned(), source, message));
    }
}

/// The key and perhaps the value of an argument that is a setting: `--Svc:Http:Listen=…`.
///
/// No option of a command has a colon in its name, so a colon tells them apart.
fn setting_argument(argument: &str) -> Option<(&str, Option<&str>)> {
    let option = argument.strip_prefix("--")?;
    let (key, value) = match option.split_once('=') {
        Some((key, value)) => (key, Some(value)),
        None => (option, None),
    };
    key.contains(':').then_some((key, value))
}

/// The file for one environment: `svc.production.toml` for `svc.toml`.
fn variant_of(base: &Path, environment: &str) -> PathBuf {
    let extension = base.extension().map_or_else(
        || environment.to_owned(),
        |extension| format!("{environment}.{}", extension.to_string_lossy()),
    );
    base.with_extension(extension)
}
