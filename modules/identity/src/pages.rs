//! The account pages: set-up, sign-in, sign-out, and what a person sees and changes of the own account.
//!
//! They are forms and links that a server writes, and work without a script. What they show is made by
//! templates ([`askama`]) that are checked when the program is built.
//!
//! | Address | |
//! | --- | --- |
//! | `/account` | the own account: password, sessions and programs that go on without one, second step |
//! | `/account/details` | the own name and mail address |
//! | `/account/address?code=…` | a new mail address, for who reads its mail |
//! | `/account/set-up` | an empty system; leads to the application once there is an organisation |
//! | `/account/sign-in?return=…` | leads back to an address of the application's own |
//! | `/account/external/<name>?return=…`, `…/callback` | signing in with an account at another issuer |
//! | `/account/external/<name>/signed-out` | where an issuer sends back to who has signed out there |
//! | `/account/accounts` | accounts at other issuers: linking, taking off |
//! | `/account/sign-out?return=…` | asks first, since a link can't be a decision |
//! | `/account/organisation?return=…` | the choice of one, for who belongs to several |
//! | `/account/second-factor?return=…` | the second step of signing in |
//! | `/account/second-step` | switches that on and off |
//! | `/account/passkeys` | the person's passkeys: adding, naming, removing |
//! | `/account/recovery` | a recovery code in place of a lost passkey that was the only way in |
//! | `/account/forgotten` | sends a link to an address |
//! | `/account/reset?code=…` | a new password, for who has the link |
//! | `/account/invitation?code=…` | a first password, or one more organisation |
//! | `/account/first-start?code=…` | the one-time address that a development start prints |
//!
//! # What is kept from other sites
//!
//! | Attack | What stands against it | Where |
//! | --- | --- | --- |
//! | a form of another site is sent here (also to sign somebody in as somebody else) | the browser must say that the form came from here, and the form carries a secret of the browser's cookie | [`form`] |
//! | a page is framed, and takes clicks meant for another | `frame-ancestors`, from `Svc:Auth:FrameAncestors` | [`answer`] |
//! | `return` leads elsewhere | only a path of this application is followed | [`own_path`] |
//! | a session that somebody else knows is given to a browser | each sign-in makes a new one | [`sessions`](crate::sessions) |
//! | secrets are read off the length of compressed pages | the form's secret is masked anew in each page | [`form_secret`] |
//! | a page is found in a cache, or an address in a referrer | `no-store`, `Referrer-Policy: same-origin` | [`answer`] |

mod account;
mod accounts;
pub(crate) mod answer;
mod details;
mod external;
pub(crate) mod first_start;
mod forgotten;
mod form;
mod form_secret;
mod invitation;
mod language;
mod organisation;
pub(crate) mod own_path;
mod page;
mod passkey_offer;
mod passkeys;
mod problems;
mod recovery;
mod second_factor;
mod second_step;
mod session_row;
mod set_up;
mod sign_in;
mod sign_out;
pub(crate) mod visit;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};
use svc_http::HttpState;

/// The largest form, in bytes.
const MAX_FORM: usize = 16 * 1024;

pub(crate) fn routes() -> Router<HttpState> {
    Router::new()
        .route("/", get(account::show))
        .route("/details", get(details::show).post(details::submit))
        .route("/address", get(details::show_address).post(details::take_address))
        .route("/password", post(account::change_password))
        .route("/sessions", post(account::end_sessions))
        .route("/set-up", get(set_up::show).post(set_up::submit))
        .route("/sign-in", get(sign_in::show).post(sign_in::submit))
        .route("/external/{name}", get(external::begin))
        .route("/external/{name}/callback", get(external::end))
        .route("/external/{name}/signed-out", get(external::signed_out))
        .route("/accounts", get(accounts::show).post(accounts::submit))
        .route("/sign-out", get(sign_out::show).post(sign_out::submit))
        .route("/organisation", get(organisation::show).post(organisation::submit))
        .route("/second-factor", get(second_factor::show).post(second_factor::submit))
        .route("/second-step", get(second_step::show).post(second_step::switch_on))
        .route("/second-step/off", post(second_step::switch_off))
        .route("/second-factor/passkey", post(second_factor::submit_passkey))
        .route("/passkey", post(passkeys::sign_in))
        .route("/passkeys", get(passkeys::show).post(passkeys::change))
        .route("/passkeys/new", post(passkeys::prepare))
        .route("/passkeys/add", post(passkeys::add))
        .route("/passkeys/codes", post(passkeys::renew_codes))
        .route("/recovery", get(recovery::show).post(recovery::submit))
        .route("/forgotten", get(forgotten::show).post(forgotten::submit))
        .route("/reset", get(forgotten::show_reset).post(forgotten::reset))
        .route("/invitation", get(invitation::show).post(invitation::submit))
        .route("/join", post(invitation::join))
        .route("/first-start", get(first_start::open))
        .route("/language", get(language::choose))
        .route("/{file}", get(page::style))
        .layer(DefaultBodyLimit::max(MAX_FORM))
}
