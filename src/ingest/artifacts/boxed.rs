//! `\boxed{…}` with balanced braces.

/// The content of the last `<marker>{…}` whose braces balance; in one walk, whatever the text.
pub(super) fn last<'t>(text: &'t str, marker: &str) -> Option<&'t str> {
    let mut open: Vec<usize> = Vec::new();
    let mut found: Option<(usize, usize)> = None;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => open.push(at),
            b'}' => {
                let Some(start) = open.pop() else { continue };
                if text[..start].ends_with(marker) && found.is_none_or(|(known, _)| start > known) {
                    found = Some((start, at));
                }
            }
            _ => {}
        }
    }
    found.map(|(start, end)| &text[start + 1..end])
}
