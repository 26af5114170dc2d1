//! The little of Markdown that the contracts are written in.

/// A fenced `sql` block, and the paragraph that stands right before it.
#[derive(Debug)]
pub(super) struct Block<'a> {
    pub(super) paragraph: Vec<&'a str>,
    pub(super) lines: Vec<&'a str>,
}

/// The lines below the heading `## title`, up to the next heading of that level.
pub(super) fn section<'a>(text: &'a str, title: &str) -> Vec<&'a str> {
    let heading = format!("## {title}");
    text.lines().skip_while(|line| *line != heading).skip(1).take_while(|l| !l.starts_with("## ")).collect()
}

/// The `sql` blocks among `lines`.
pub(super) fn sql_blocks<'a>(lines: &[&'a str]) -> Vec<Block<'a>> {
    let mut blocks = Vec::new();
    let mut paragraph = Vec::new();
    let mut last_paragraph = Vec::new();
    let mut block: Option<Block<'a>> = None;
    for &line in lines {
        match (&mut block, line) {
            (Some(_), "```") => blocks.extend(block.take()),
            (Some(open), _) => open.lines.push(line),
            (None, "```sql") => {
                let paragraph = std::mem::take(&mut last_paragraph);
                block = Some(Block { paragraph, lines: Vec::new() });
            }
            (None, "") if paragraph.is_empty() => {}
            (None, "") => last_paragraph = std::mem::take(&mut paragraph),
            (None, _) => paragraph.push(line),
        }
    }
    blocks
}

/// The cells of the table among `lines`, without its heading.
pub(super) fn table<'a>(lines: &[&'a str]) -> Vec<Vec<&'a str>> {
    let rows = lines.iter().filter_map(|line| line.strip_prefix('|')?.strip_suffix('|'));
    rows.skip(2).map(|row| row.split('|').map(str::trim).collect()).collect()
}
