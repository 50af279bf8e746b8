use std::any::{Any, TypeId, type_name};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use crate::settings::nearest;
use crate::settings::{Section, SectionDeclaration};
use crate::{App, Error, ErrorCode, Result, Worker};

mod kind;
mod order;

pub use kind::Kind;

/// A capability of an application: a value that says, in [`Module::configure`], all that it adds.
///
/// An application is a module too. Reading `configure` tells a newcomer everything that the
/// module does to the system.
pub trait Module: Send + Sync + 'static {
    /// The module's name, unique in the application; by default the type's name in snake case.
    fn name(&self) -> Cow<'static, str> {
        Cow::Owned(order::name_of_type(type_name::<Self>()))
    }

    /// The names of the modules that must be there, and are configured before this one.
    fn requires(&self) -> &'static [&'static str] {
        &[]
    }

    /// Says all that the module adds.
    fn configure(&self, registry: &mut Registry);
}

/// One thing that a module adds, as `modules` prints it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contribution {
    /// What it is.
    pub kind: Kind,
    /// Its name, unique among its kind unless the kind says otherwise.
    pub name: String,
    /// What a person should know about it, in one line.
    pub detail: String,
}

/// A configured module.
#[derive(Clone, Debug)]
pub struct ModuleInfo {
    /// The module's name.
    pub name: String,
    /// The modules that it requires.
    pub requires: Vec<String>,
    /// All that it adds, by kind in the order of registration.
    pub contributions: Vec<Contribution>,
}

type BuildHook =
    Box<dyn FnOnce(App) -> Pin<Box<dyn Future<Output = Result<()>> + Send>> + Send + Sync>;

/// Collects what modules add.
///
/// Each part of the kernel keeps its own collection in here ([`Registry::part`]) and offers its
/// methods through an extension trait, so that `registry.entity_set(…)`, `registry.job(…)` and
/// `registry.routes(…)` read as one vocabulary although no part knows the others.
#[derive(Default)]
pub struct Registry {
    parts: HashMap<TypeId, Box<dyn Any + Send + Sync>>,
    modules: Vec<ModuleInfo>,
    problems: Vec<String>,
    sections: Vec<SectionDeclaration>,
    build: Vec<BuildHook>,
    at_end: Vec<fn(&mut Registry)>,
    named_permissions: Vec<NamedPermission>,
}

/// A permission that something asks for: who says so, which, and what asks.
struct NamedPermission {
    module: String,
    permission: String,
    by: String,
}

impl Registry {
    /// Sorts modules by what they require and configures them.
    ///
    /// # Errors
    ///
    /// [`AssemblyError`], with every problem found, when a required module is missing, modules
    /// require each other in a circle, two have one name, or a module's configuration is wrong.
    pub fn assemble(modules: Vec<Box<dyn Module>>) -> Result<Assembly, AssemblyError> {
        let modules = order::sort(modules).map_err(AssemblyError)?;
        let mut registry = Self::default();
        for module in modules {
            registry.modules.push(ModuleInfo {
                name: module.name().into_owned(),
                requires: module.requires().iter().map(ToString::to_string).collect(),
                contributions: Vec::new(),
            });
            module.configure(&mut registry);
        }
        for hook in std::mem::take(&mut registry.at_end) {
            hook(&mut registry);
        }
        registry.refuse_duplicates();
        registry.refuse_unknown_permissions();
        if !registry.problems.is_empty() {
            return Err(AssemblyError(registry.problems));
        }
        let Self { parts, modules, build, sections, .. } = registry;
        Ok(Assembly { modules, parts, build, sections })
    }

    /// The collection of one part of the kernel; the first to ask for it makes it.
    pub fn part<T: Default + Send + Sync + 'static>(&mut self) -> &mut T {
        self.parts
            .entry(TypeId::of::<T>())
            .or_insert_with(|| Box::new(T::default()))
            .downcast_mut()
            .expect("a part is stored under its own type")
    }

    /// The name of the module that is being configured.
    #[must_use]
    pub fn module(&self) -> &str {
        self.modules.last().map_or("application", |module| &module.name)
    }

    /// Records a contribution of the module that is being configured.
    pub fn contribute(&mut self, kind: Kind, name: impl Into<String>, detail: impl Into<String>) {
        let contribution = Contribution { kind, name: name.into(), detail: detail.into() };
        match self.modules.last_mut() {
            Some(module) => module.contributions.push(contribution),
            None => self.problem(format!("`{}` is contributed by no module", contribution.name)),
        }
    }

    /// Records a contribution of a module that was configured before, for what is known once all modules are.
    pub fn contribute_to(
        &mut self,
        module: &str,
        kind: Kind,
        name: impl Into<String>,
        detail: impl Into<String>,
    ) {
        let contribution = Contribution { kind, name: name.into(), detail: detail.into() };
        match self.modules.iter_mut().find(|known| known.name == module) {
            Some(module) => module.contributions.push(contribution),
            None => self.problem(format!("there is no module `{module}` to contribute to")),
        }
    }

    /// Declares the codes of the module's own errors.
    pub fn errors(&mut self, codes: impl IntoIterator<Item = ErrorCode>) {
        for code in codes {
            if !code.is_well_formed() {
                self.problem(format!(
                    "the code `{}` of an error needs a name such as `shop.stock_too_low`",
                    code.name()
                ));
            }
            self.contribute(Kind::ERROR_CODE, code.name(), code.description());
            self.part::<Vec<ErrorCode>>().push(code);
        }
    }

    /// Declares a section of the configuration, which [`App::settings`] then gives.
    pub fn settings<S: Section>(&mut self) {
        let declaration = SectionDeclaration::of::<S>();
        for field in declaration.fields() {
            let detail = match field.default.as_deref() {
                None => "required".to_owned(),
                Some("") => "no default".to_owned(),
                Some(default) => format!("default {default}"),
            };
            self.contribute(Kind::SETTING, format!("{}:{}", S::NAME, field.key), detail);
        }
        self.sections.push(declaration);
    }

    /// Records a mistake in the configuration; the start ends with all of them.
    pub fn problem(&mut self, problem: impl fmt::Display) {
        let module = self.module();
        self.problems.push(format!("module `{module}`: {problem}"));
    }

    /// Records a mistake of a module that was configured before.
    pub fn problem_of(&mut self, module: &str, problem: impl fmt::Display) {
        self.problems.push(format!("module `{module}`: {problem}"));
    }

    /// Says that something (`by`, such as "the route `GET /api/v1/jobs`") asks for a permission. Some
    /// module must declare it, or no role could hold it: the start ends with those that none does.
    pub fn asks_for_permission(&mut self, permission: &str, by: impl fmt::Display) {
        let module = self.module().to_owned();
        self.asks_for_permission_of(&module, permission, by);
    }

    /// As [`Registry::asks_for_permission`], of a module that was configured before.
    pub fn asks_for_permission_of(
        &mut self,
        module: &str,
        permission: &str,
        by: impl fmt::Display,
    ) {
        let (module, permission) = (module.to_owned(), permission.to_owned());
        self.named_permissions.push(NamedPermission { module, permission, by: by.to_string() });
    }

    /// Whether the module that is being configured has contributed this already.
    #[must_use]
    pub fn has_contributed(&self, kind: Kind, name: &str) -> bool {
        let contributions = self.modules.last().map(|module| &module.contributions[..]);
        let mut contributions = contributions.unwrap_or_default().iter();
        contributions.any(|known| known.kind == kind && known.name == name)
    }

    /// Runs `hook` when all modules are configured, for what one module says about what another
    /// adds. A hook that is given twice runs once.
    pub fn at_end(&mut self, hook: fn(&mut Registry)) {
        if !self.at_end.iter().any(|known| std::ptr::fn_addr_eq(*known, hook)) {
            self.at_end.push(hook);
        }
    }

    /// Runs `hook` when the application is built: settings are read and the database is ready.
    /// Hooks run in the order of the modules; what one provides, later ones find.
    pub fn on_build<F, Fut>(&mut self, hook: F)
    where
        F: FnOnce(App) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<()>> + Send + 'static,
    {
        self.build.push(Box::new(|app| Box::pin(hook(app))));
    }

    /// Adds a worker, made when the application is built, after the hooks that were registered
    /// before it. `make` answers with none where the worker has no place, such as one that a
    /// setting switches off.
    pub fn worker<F>(&mut self, name: &'static str, description: &str, make: F)
    where
        F: FnOnce(&App) -> Result<Option<Arc<dyn Worker>>> + Send + Sync + 'static,
    {
        self.contribute(Kind::WORKER, name, description);
        self.on_build(move |app| async move {
            let Some(worker) = make(&app)? else { return Ok(()) };
            if worker.name() != name {
                return Err(Error::internal(format!(
                    "the worker `{name}` calls itself `{}`; give both one name",
                    worker.name()
                )));
            }
            app.add_worker(worker);
            Ok(())
        });
    }

    fn refuse_duplicates(&mut self) {
        let mut seen: BTreeMap<(&str, &str), &str> = BTreeMap::new();
        let mut problems = Vec::new();
        for module in &self.modules {
            for Contribution { kind, name, .. } in &module.contributions {
                if kind.may_repeat() {
                    continue;
                }
                if let Some(first) = seen.insert((kind.heading(), name), &module.name) {
                    problems.push(format!(
                        "module `{}`: `{name}` is already among the {} of module `{first}`; \
                         give one of them another name",
                        module.name,
                        kind.heading(),
                    ));
                }
            }
        }
        self.problems.extend(problems);
    }

    fn refuse_unknown_permissions(&mut self) {
        let contributions = self.modules.iter().flat_map(|module| &module.contributions);
        let declared: BTreeSet<&str> = contributions
            .filter(|contribution| contribution.kind == Kind::PERMISSION)
            .map(|contribution| contribution.name.as_str())
            .collect();
        let mut problems = Vec::new();
        for NamedPermission { module, permission, by } in &self.named_permissions {
            if declared.contains(permission.as_str()) {
                continue;
            }
            let meant = nearest(permission, declared.iter().copied());
            let meant = meant.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            problems.push(format!(
                "module `{module}`: {by} asks for the permission `{permission}`, which no module \
                 declares, so nobody could hold it; declare it with `registry.permission(…)`{meant}"
            ));
        }
        problems.dedup();
        self.problems.extend(problems);
    }
}

/// Modules that fit together, configured.
pub struct Assembly {
    modules: Vec<ModuleInfo>,
    parts: HashMap<TypeId, Box<dyn Any + Send + Sync>>,
    build: Vec<BuildHook>,
    sections: Vec<SectionDeclaration>,
}

impl Assembly {
    /// The modules in the order of their configuration.
    #[must_use]
    pub fn modules(&self) -> &[ModuleInfo] {
        &self.modules
    }

    /// The sections of the configuration that modules declare.
    #[must_use]
    pub fn sections(&self) -> &[SectionDeclaration] {
        &self.sections
    }

    /// Takes the collection of one part of the kernel; empty where no module added to it.
    #[must_use]
    pub fn take<T: Default + Send + Sync + 'static>(&mut self) -> T {
        self.parts
            .remove(&TypeId::of::<T>())
            .and_then(|part| part.downcast().ok())
            .map_or_else(T::default, |part| *part)
    }

    /// Runs the hooks of [`Registry::on_build`].
    ///
    /// # Errors
    ///
    /// The first error of a hook.
    pub async fn build(&mut self, app: &App) -> Result<()> {
        for hook in std::mem::take(&mut self.build) {
            hook(app.clone()).await?;
        }
        Ok(())
    }

    /// Everything that each module adds, as text for a person.
    #[must_use]
    pub fn describe(&self) -> String {
        use fmt::Write as _;
        let mut text = String::new();
        for module in &self.modules {
            let _ = write!(text, "{}", module.name);
            if !module.requires.is_empty() {
                let _ = write!(text, " (requires {})", module.requires.join(", "));
            }
            text.push('\n');
            let mut by_heading: BTreeMap<&str, Vec<&Contribution>> = BTreeMap::new();
            for contribution in &module.contributions {
                by_heading.entry(contribution.kind.heading()).or_default().push(contribution);
            }
            for (heading, contributions) in by_heading {
                let _ = writeln!(text, "  {heading}");
                for Contribution { name, detail, .. } in contributions {
                    let line = format!("    {name:<44} {detail}");
                    let _ = writeln!(text, "{}", line.trim_end());
                }
            }
        }
        text
    }
}

impl fmt::Debug for Assembly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Assembly").field("modules", &self.modules).finish_non_exhaustive()
    }
}

/// Why modules don't make an application: one line a problem.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.join("\n"))]
pub struct AssemblyError(pub Vec<String>);
