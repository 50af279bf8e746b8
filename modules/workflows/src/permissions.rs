//! Who may look, act, hand on and draw.

use svc_core::Permission;

/// The permission to see where records stand, and what happened to them.
pub const VIEW: &str = "Workflows.View";

/// [`VIEW`] as a type, for routes.
pub(crate) struct View;

impl Permission for View {
    const NAME: &'static str = VIEW;
}

/// The permission to take records from state to state, as their workflow lets one.
pub const ACT: &str = "Workflows.Act";

/// [`ACT`] as a type, for routes.
pub(crate) struct Act;

impl Permission for Act {
    const NAME: &'static str = ACT;
}

/// The permission to hand on what awaits others, and to say who stands in for whom.
pub const REASSIGN: &str = "Workflows.Reassign";

/// The permission to draw workflows.
pub const DESIGN: &str = "Workflows.Designer.Manage";

/// [`DESIGN`] as a type, for routes.
pub(crate) struct Design;

impl Permission for Design {
    const NAME: &'static str = DESIGN;
}
