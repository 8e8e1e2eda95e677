//! Random systems whose expressions are graphs.

use ample_random::Random;

use crate::expr::{BinaryOp, Expr, Shared, UnaryOp};
use crate::system::System;
use crate::visit::{Folder, fold_edge, fold_expr};

/// The system with graphs of shared expressions in place of some that its processes evaluate. It is another system, that
/// may go wrong where this one does and nowhere else.
///
/// ```
/// use ample_model::check::check;
/// use ample_model::random::{Features, system, with_shared};
///
/// assert!(check(&with_shared(system(42, Features::ALL), 42)).is_ok());
/// ```
pub fn with_shared(mut system: System, seed: u64) -> System {
    let mut sharing = Sharing(Random::new(seed));
    for edge in system.processes.iter_mut().flat_map(|process| &mut process.edges) {
        *edge = fold_edge(&mut sharing, edge);
    }
    system
}

struct Sharing(Random);

impl Sharing {
    /// On some ways through it parts are not evaluated.
    fn graph(&mut self, expr: Expr) -> Expr {
        let mut shared = Expr::Shared(Shared::new(expr));
        for _ in 0..self.0.below(4) {
            let x = || shared.clone();
            let not = || Expr::unary(UnaryOp::Not, shared.clone());
            let expr = match self.0.below(4) {
                0 => Expr::binary(BinaryOp::BitXor, x(), not()),
                1 => Expr::binary(BinaryOp::And, x(), Expr::binary(BinaryOp::Or, not(), x())),
                2 => Expr::Conditional(x().into(), not().into(), x().into()),
                _ => Expr::Conditional(not().into(), Expr::Const(1).into(), x().into()),
            };
            shared = Expr::Shared(Shared::new(expr));
        }
        shared
    }
}

impl Folder for Sharing {
    fn expr(&mut self, expr: &Expr) -> Expr {
        let expr = fold_expr(self, expr);
        match expr {
            Expr::Unary(..) | Expr::Binary(..) | Expr::Conditional(..) if self.0.one_in(3) => self.graph(expr),
            expr => expr,
        }
    }

    fn shared(&mut self, shared: &Shared) -> Expr {
        Expr::Shared(shared.clone())
    }
}
