/**
 * The sidebar, from the map of docs/README.md: a section for each heading of the second level, an entry for each
 * line "- [title](page.md)".
 */
export function documentationMap(markdown) {
  const sections = [];
  for (const line of markdown.split('\n')) {
    const heading = /^## (.+)$/.exec(line);
    if (heading) sections.push({ text: heading[1], items: [] });
    const entry = /^- \[([^\]]+)\]\(([^)]+)\.md\)/.exec(line);
    if (entry)
      sections
        .at(-1)
        .items.push({ text: entry[1].replaceAll('`', ''), link: `/${entry[2].replace(/README$/, '')}` });
  }
  return sections;
}
