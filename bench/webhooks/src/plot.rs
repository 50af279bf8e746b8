//! The plot: every figure that has a goal, as a bar beside it.

use std::fmt::Write as _;
use std::path::Path;

use crate::report::{Figure, Figures, Goal};

const ROW: usize = 26;
const LEFT: usize = 430;
const WIDTH: usize = 860;
/// Where the goal stands, so that all bars have one scale.
const GOAL_AT: f64 = 200.0;

/// Draws the run.
pub(crate) fn draw(figures: &Figures, file: &Path) {
    let with_goal: Vec<(&Figure, Goal)> =
        figures.rows.iter().filter_map(|figure| Some((figure, figure.goal?))).collect();
    let height = ROW * (with_goal.len() + 3);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"10\" y=\"18\" font-size=\"14\">Webhooks, as a part of each goal (line): {}, {}</text>\n",
        escaped(&figures.machine),
        escaped(&figures.commit),
    );
    for (index, (figure, goal)) in with_goal.iter().enumerate() {
        let y = ROW * (index + 1) + 10;
        let (goal, met) = match goal {
            Goal::AtLeast(goal) => (*goal, figure.value >= *goal),
            Goal::Below(goal) => (*goal, figure.value < *goal),
        };
        let longest = (WIDTH - LEFT - 70) as f64;
        let length = (figure.value / goal * GOAL_AT).clamp(1.0, longest);
        let colour = if met { "#3a7d44" } else { "#b3392f" };
        let _ = writeln!(
            svg,
            "<text x=\"10\" y=\"{text}\">{}: {}, {}</text>\
             <rect x=\"{LEFT}\" y=\"{y}\" width=\"{length:.0}\" height=\"16\" fill=\"{colour}\"/>\
             <text x=\"{after:.0}\" y=\"{text}\">{} {}</text>",
            figure.database,
            figure.part,
            escaped(&figure.name),
            figure.value,
            escaped(&figure.unit),
            text = y + 13,
            after = LEFT as f64 + length.max(GOAL_AT) + 6.0,
        );
    }
    let x = LEFT as f64 + GOAL_AT;
    let _ = writeln!(
        svg,
        "<line x1=\"{x}\" y1=\"{ROW}\" x2=\"{x}\" y2=\"{}\" stroke=\"black\"/>\n</svg>",
        height - ROW
    );
    std::fs::write(file, svg).unwrap();
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
