//! Who may call a route, said once: by the first argument of its handler.
//!
//! | First argument | Who may call | In the OpenAPI document |
//! | --- | --- | --- |
//! | [`May<P>`] | who holds the permission `P` | `security` with the permission, and the answer 403 |
//! | [`Ctx`] | who is signed in; the handler decides about more | `security` without a permission, or what its description says |
//!
//! [`routes!`](crate::routes) writes the entry from the argument, so that what is checked and what is
//! described can't differ, and takes no handler that begins with another. Handlers that ask nobody are
//! registered with [`public_routes!`](crate::public_routes) and a reason, which the document shows too.

use std::marker::PhantomData;

use axum::extract::FromRequestParts;
use http::request::Parts;
use serde_json::json;
use svc_core::Permission;
use svc_data::Context;
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::SecurityRequirement;
use utoipa_axum::router::UtoipaMethodRouter;

use crate::authentication::Ctx;
use crate::openapi::operations::{BEARER, PUBLIC, operations_mut};
use crate::problem::{ApiError, ApiResult};
use crate::state::HttpState;

/// The caller, who must be signed in and hold the permission `P`, as the context to act in.
///
/// ```
/// use svc_core::Permission;
/// use svc_http::May;
///
/// struct SendGreetings;
///
/// impl Permission for SendGreetings {
///     const NAME: &'static str = "Greetings.Send";
/// }
///
/// #[utoipa::path(post, path = "/greetings", responses((status = 200, description = "Who sent it.")))]
/// async fn send_greeting(May { ctx, .. }: May<SendGreetings>) -> String {
///     ctx.principal().display_name().to_owned()
/// }
/// ```
pub struct May<P> {
    /// The context of the caller.
    pub ctx: Context,
    permission: PhantomData<fn() -> P>,
}

impl<P: Permission> FromRequestParts<HttpState> for May<P> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &HttpState) -> ApiResult<Self> {
        let Ctx(ctx) = Ctx::from_request_parts(parts, state).await?;
        ctx.require(P::NAME)?;
        Ok(Self { ctx, permission: PhantomData })
    }
}

/// An extractor that decides who may call, and says so in the description of the route.
#[diagnostic::on_unimplemented(
    message = "`{Self}` doesn't say who may call the route",
    note = "the first argument of a handler says who may call: `May<P>` who holds a permission, `Ctx` who is signed in",
    note = "routes that serve everybody are registered with `public_routes!` and a reason"
)]
pub trait Access {
    /// Writes who may call into the description.
    fn describe(operation: &mut Operation);
}

impl<P: Permission> Access for May<P> {
    fn describe(operation: &mut Operation) {
        operation.security = Some(vec![SecurityRequirement::new(BEARER, [P::NAME])]);
    }
}

impl Access for Ctx {
    fn describe(operation: &mut Operation) {
        let signed_in = || vec![SecurityRequirement::new(BEARER, [""; 0])];
        operation.security.get_or_insert_with(signed_in);
    }
}

/// A handler whose first argument says who may call it.
pub trait Guarded<Arguments> {
    /// Writes who may call into the description.
    fn describe(&self, operation: &mut Operation);
}

macro_rules! guarded {
    ($($argument:ident)*) => {
        impl<F, Answer, Who, $($argument),*> Guarded<(Who, $($argument,)*)> for F
        where
            F: Fn(Who, $($argument),*) -> Answer,
            Who: Access,
        {
            fn describe(&self, operation: &mut Operation) {
                Who::describe(operation);
            }
        }
    };
}

guarded!();
guarded!(A1);
guarded!(A1 A2);
guarded!(A1 A2 A3);
guarded!(A1 A2 A3 A4);
guarded!(A1 A2 A3 A4 A5);
guarded!(A1 A2 A3 A4 A5 A6);

/// Routes of one path with what describes them.
type Described = UtoipaMethodRouter<HttpState>;

/// What [`routes!`](crate::routes) does with a handler.
#[doc(hidden)]
pub fn guarded<Arguments>(mut route: Described, handler: &impl Guarded<Arguments>) -> Described {
    for item in route.1.paths.values_mut() {
        operations_mut(item).for_each(|operation| handler.describe(operation));
    }
    route
}

/// What [`public_routes!`](crate::public_routes) does with routes.
#[doc(hidden)]
pub fn public(mut routes: Described, reason: &str) -> Described {
    for operation in routes.1.paths.values_mut().flat_map(operations_mut) {
        if operation.security.is_some() {
            continue;
        }
        operation.security = Some(vec![SecurityRequirement::default()]);
        let extensions = operation.extensions.get_or_insert_default();
        extensions.insert(PUBLIC.to_owned(), json!(reason));
    }
    routes
}

/// What [`routes!`](crate::routes) does with several handlers of one path.
#[doc(hidden)]
pub fn combined(first: Described, (schemas, paths, router): Described) -> Described {
    let mut together = first;
    together.0.extend(schemas);
    together.1.merge(paths);
    together.2 = together.2.merge(router);
    together
}

/// Collects handlers of one path that `#[utoipa::path]` describes, for
/// [`OpenApiRouter::routes`](crate::OpenApiRouter). The first argument of each says who may call it:
/// [`May<P>`](crate::May) or [`Ctx`](crate::Ctx).
#[macro_export]
macro_rules! routes {
    ($($first:ident $(:: $more:ident)*),+ $(,)?) => {
        $crate::together!($(
            $crate::__routes::guarded(
                $crate::__routes::utoipa_axum::routes!($first $(:: $more)*),
                &$first $(:: $more)*,
            )
        ),+)
    };
}

/// Collects handlers of one path that serve everybody, with the reason why:
/// `public_routes!("what it is for is to sign in"; sign_in)`. It stands in the OpenAPI document as
/// `x-public`. A handler whose description names its `security` checks that itself.
#[macro_export]
macro_rules! public_routes {
    ($reason:literal; $($first:ident $(:: $more:ident)*),+ $(,)?) => {
        $crate::together!($(
            $crate::__routes::public($crate::__routes::utoipa_axum::routes!($first $(:: $more)*), $reason)
        ),+)
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! together {
    ($first:expr $(, $more:expr)*) => {{
        let routes = $first;
        $(let routes = $crate::__routes::combined(routes, $more);)*
        routes
    }};
}
