/** Longest anchor in characters, without its number. */
const longest = 80;

/** Makes the anchors of headings as Git hosts do: lower case, hyphens for spaces, and a number after the first. */
export class Anchors {
  readonly #taken = new Set<string>();
  readonly #next = new Map<string, number>();

  of(heading: string): string {
    const slug = slugOf(heading);
    let anchor = slug;
    for (let number = this.#next.get(slug) ?? 1; this.#taken.has(anchor); number++) {
      anchor = `${slug}-${number}`;
      this.#next.set(slug, number + 1);
    }
    this.#taken.add(anchor);
    return anchor;
  }
}

function slugOf(heading: string): string {
  const slug = heading
    .slice(0, longest)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
    .trim()
    .replaceAll(' ', '-');
  return slug || 'section';
}
