//! Words in a row, for reasoning and prompts.

use crate::random::Random;

const WORDS: [&str; 40] = [
    "the", "image", "shows", "a", "figure", "with", "clear", "edges", "and", "light", "from", "left", "but", "shadow",
    "does", "not", "match", "texture", "of", "stone", "looks", "natural", "fingers", "are", "merged", "\"sign\"",
    "reads", "almost", "right", "colour", "harmony", "is", "good", "while", "depth", "seems", "flat,", "so", "score",
    "follows.",
];

/// Words up to a number of characters, with the line breaks and quotes that make escapes.
pub(super) fn prose(random: &mut Random, characters: usize) -> String {
    let mut text = String::with_capacity(characters + 16);
    while text.len() < characters {
        text += WORDS[random.below(WORDS.len())];
        text.push(if random.below(24) == 0 { '\n' } else { ' ' });
    }
    text.truncate(characters);
    text
}
