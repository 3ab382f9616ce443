import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitepress';
import { slug } from '../../scripts/links/anchors.mjs';
import { documentationMap } from '../map.mjs';

const docs = new URL('../../docs/', import.meta.url);
const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

export default defineConfig({
  title: 'lorekeep',
  description: 'A local agent server that keeps what agents know, and the Node.js library under it.',
  srcDir: './pages', // a copy of docs/: pages import Vue, which only a folder of this package finds
  outDir: './dist',
  cacheDir: './.cache',
  base: process.env.SITE_BASE ?? '/',
  rewrites: {
    'README.md': 'index.md',
    ':folder/README.md': ':folder/index.md',
    ':folder/:inner/README.md': ':folder/:inner/index.md',
  },
  // scripts/check-links.mjs checks every link, those that leave docs/ included. Only the latter are dead here.
  ignoreDeadLinks: [/\/\.\.\//, /^\.\.?\/\.\.\//],
  markdown: { html: false, anchor: { slugify: slug }, config: plainInlineCode },
  themeConfig: {
    search: { provider: 'local' },
    outline: 'deep',
    nav: [{ text: `Version ${version}`, link: '/' }],
    sidebar: documentationMap(readFileSync(new URL('README.md', docs), 'utf8')),
  },
});

/** Vue would take `{{#knowledge}}` in inline code for an expression of its own. */
function plainInlineCode(markdown) {
  const render = markdown.renderer.rules.code_inline;
  markdown.renderer.rules.code_inline = (tokens, index, ...rest) => {
    tokens[index].attrSet('v-pre', '');
    return render(tokens, index, ...rest);
  };
}
