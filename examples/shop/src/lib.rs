//! The sample shop: a wholesale business on Svc.
//!
//! It is small enough to read in a quarter of an hour, in this order:
//!
//! 1. [`Shop::configure`](Shop): all that the application consists of;
//! 2. [`product`]: a stored record, and who may see which of them;
//! 3. [`orders`]: commands, each of which is one unit of work;
//! 4. `api`: the same commands over HTTP.
//!
//! [`sample`] invents a year and a half of business to try it with.

mod api;
pub mod category;
pub mod customer;
pub mod errors;
mod first_start;
pub mod fulfilment;
mod goods;
mod operations;
pub mod order;
pub mod order_line;
mod order_number;
pub mod orders;
mod placed_orders;
pub mod product;
pub mod purchase;
pub mod sample;
mod settings;
mod shop;
pub mod stock;
pub mod supplier;

pub use settings::SampleSettings;
pub use shop::Shop;
