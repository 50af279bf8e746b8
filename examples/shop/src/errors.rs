//! What the shop's commands refuse, as programs know it.

use svc::prelude::*;

/// There is less in stock than an order asks for.
pub const STOCK_TOO_LOW: ErrorCode = ErrorCode::new(
    "shop.stock_too_low",
    ErrorKind::Conflict,
    "There is less in stock than the order asks for; `products` lists what is short: `sku` and `available`",
);

/// An order comes to more than is left of the customer's credit.
pub const CREDIT_TOO_LOW: ErrorCode = ErrorCode::new(
    "shop.credit_too_low",
    ErrorKind::Conflict,
    "The order comes to more (`total`) than is left of the customer's credit (`left`)",
);

/// An order isn't waiting for shipment any more.
pub const ORDER_CLOSED: ErrorCode = ErrorCode::new(
    "shop.order_closed",
    ErrorKind::Conflict,
    "The order has been shipped or cancelled already; `state` says which",
);

/// The lines of an order that was placed don't change.
pub const LINES_ARE_FIXED: ErrorCode = ErrorCode::new(
    "shop.lines_are_fixed",
    ErrorKind::Conflict,
    "The lines of an order stay as they were placed",
);

/// An order isn't as far in its workflow.
pub const NOT_READY: ErrorCode = ErrorCode::new(
    "shop.not_ready",
    ErrorKind::Conflict,
    "The order isn't as far: it is approved and picked before it is shipped",
);

/// All of them.
pub const ALL: [ErrorCode; 5] =
    [STOCK_TOO_LOW, CREDIT_TOO_LOW, ORDER_CLOSED, LINES_ARE_FIXED, NOT_READY];
