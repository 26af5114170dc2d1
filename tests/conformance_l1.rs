//! The conformance suite on L1.

mod conformance;
#[path = "conformance/l1.rs"]
mod l1;
#[path = "conformance/model.rs"]
mod model;

use l1::L1;

macro_rules! on_l1 {
    ($($file:ident::$case:ident),* $(,)?) => {
        $(#[test]
        fn $case() {
            conformance::$file::$case(&L1);
        })*
    };
}

each_case!(on_l1);

#[test]
fn random_operations_agree_with_a_plain_model() {
    model::random_operations_agree_with_a_plain_model(&L1);
}
