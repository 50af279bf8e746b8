//! What several rounds measured, as a line of the table.

/// The median of a few figures.
pub(crate) fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// Prints both sides of a comparison and their ratio, round by round.
pub(crate) fn report(what: &str, ours: &[f64], bare: &[f64], goal: f64) {
    let ratios: Vec<f64> = ours.iter().zip(bare).map(|(ours, bare)| ours / bare).collect();
    let (low, high) = ratios.iter().fold((f64::MAX, 0.0_f64), |(l, h), r| (l.min(*r), h.max(*r)));
    println!(
        "  {what:<34} ours {:>8.0}/s  bare {:>8.0}/s  ratio {:.2} ({low:.2} to {high:.2}), goal {goal}",
        median(ours.to_vec()),
        median(bare.to_vec()),
        median(ratios),
    );
}
