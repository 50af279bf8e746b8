//! What is wrong with a form, in the language of who filled it in.

use std::collections::BTreeMap;

use svc_core::settings::Secret;

use super::page::Page;
use crate::email::Email;
use crate::password::{PasswordProblem, Passwords};
use crate::text;

/// What is wrong with a form; nothing, at first.
#[derive(Default)]
pub(super) struct Problems {
    /// With all of it.
    pub(super) problem: Option<String>,
    fields: BTreeMap<&'static str, String>,
}

impl Problems {
    /// One problem with all of the form.
    pub(super) fn whole(problem: String) -> Self {
        Self { problem: Some(problem), fields: BTreeMap::new() }
    }

    pub(super) fn add(&mut self, field: &'static str, problem: String) {
        self.fields.entry(field).or_insert(problem);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.problem.is_none() && self.fields.is_empty()
    }

    /// What is wrong with a field.
    pub(super) fn field(&self, name: &str) -> Option<&String> {
        self.fields.get(name)
    }

    /// Looks at a name.
    pub(super) fn check_name(&mut self, page: &Page, field: &'static str, name: &str) {
        if name.trim().is_empty() {
            self.add(field, page.text("identity-invalid-empty"));
        } else if text::name(field, name).is_err() {
            self.add(field, page.text("identity-invalid-name"));
        }
    }

    /// Looks at a mail address.
    pub(super) fn check_email(&mut self, page: &Page, email: &str) {
        if Email::parse(email).is_err() {
            self.add("email", page.text("identity-invalid-email"));
        }
    }

    /// Looks at a new password that was typed twice, of a person with these names and addresses.
    pub(super) fn check_password(
        &mut self,
        page: &Page,
        passwords: &Passwords,
        (password, repeated): (&Secret, &Secret),
        personal: &[&str],
    ) {
        if let Some(problem) = passwords.problem(password, personal) {
            self.add("password", in_words(page, problem));
        } else if password.expose() != repeated.expose() {
            self.add("repeated", page.text("identity-password-differs"));
        }
    }
}

fn in_words(page: &Page, problem: PasswordProblem) -> String {
    match problem {
        PasswordProblem::Blank => page.text("identity-invalid-empty"),
        PasswordProblem::Short(least) => {
            page.text_with("identity-invalid-password-short", "min", &least.to_string())
        }
        PasswordProblem::Long(_) => page.text("identity-invalid-password-long"),
        PasswordProblem::Personal => page.text("identity-invalid-password-self"),
        PasswordProblem::Common => page.text("identity-invalid-password-common"),
    }
}
