//! The conformance suite on L2.

mod conformance;
#[path = "conformance/l2.rs"]
mod l2;
#[path = "conformance/model.rs"]
mod model;

use askr::sqlite::contracts::queue::PUBLISHED;
use l2::L2;

macro_rules! on_l2 {
    ($($file:ident::$case:ident),* $(,)?) => {
        $(#[test]
        fn $case() {
            conformance::$file::$case(&L2(PUBLISHED));
        })*
    };
}

each_case!(on_l2);

#[test]
fn random_operations_agree_with_a_plain_model() {
    model::random_operations_agree_with_a_plain_model(&L2(PUBLISHED));
}

#[test]
fn the_move_of_an_exhausted_job_asks_for_its_very_claim() {
    l2::the_move_of_an_exhausted_job_asks_for_its_very_claim(PUBLISHED);
}
