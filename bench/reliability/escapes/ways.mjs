// Ways out of a storage root: spellings of paths, and links inside the root. `leaves` says whether the path leaves the root by
// its spelling, whether or not the target exists. Targets are files in the folder `outside`, beside the root.

/**
 * @param name of a file in `outside`
 * @param outside its absolute path
 * @param up the way from where paths start to the parent of the root, such as `..`
 */
export function spellings(name, outside, up) {
  const back = up.replaceAll('/', '\\');
  const encoded = up.replaceAll('.', '%2e');
  const leaving = [
    `${up}/outside/${name}`,
    `./${up}/outside/${name}`,
    `${up}//outside///${name}`,
    `kb/../${up}/outside/${name}`,
    `kb/./.././${up}/outside/${name}`,
    `${up}/root/../outside/${name}`,
    `absent/../${up}/outside/${name}`,
    `${up}/outside/./${name}`,
    `${outside}/${name}`,
    `/${outside}/${name}`,
    `/..${outside}/${name}`,
    `${back}\\outside\\${name}`,
    `kb\\..\\${back}\\outside\\${name}`,
    `${back}\\outside/${name}`,
    `C:\\outside\\${name}`,
    `C:${name}`,
    `c:/outside/${name}`,
    `\\\\host\\share\\${name}`,
    `\\\\?\\C:\\${name}`,
    `//host/share/${name}`,
    `${encoded}/outside/${name}`,
    `${encoded.replaceAll('/', '%2F').toUpperCase()}%2Foutside%2F${name}`,
    `${up.replace('..', '.%2e')}/outside/${name}`,
    `${encoded.replaceAll('/', '%2f').replaceAll('%', '%25')}%252foutside%252f${name}`,
    `${encoded.replaceAll('%', '%2525')}/outside/${name}`,
    `${up.replaceAll('/', '%5c')}%5coutside%5c${name}`,
    `${up.replaceAll('/', '%2f')}%2foutside/${name}`,
    `${encoded.replaceAll('/', '%5c')}%5coutside/${name}`,
    `${'../'.repeat(40)}${outside.slice(1)}/${name}`,
    `kb/${'../'.repeat(40)}etc/${name}`,
    `kb/${name}\0`,
    `${up}/outside/${name}\0.json`,
    `kb%00/../${up}/outside/${name}`,
    `/proc/self/cwd/${name}`,
    `/proc/self/root${outside}/${name}`,
    `/dev/fd/0/${name}`,
    `${up}/outside/../outside/${name}`,
    up,
    `${up}/`,
    `/`,
  ];
  const staying = [
    `．．/outside/${name}`,
    `%c0%ae%c0%ae/outside/${name}`,
    `...//outside/${name}`,
    `kb/.../${name}`,
    `~/${name}`,
    `$HOME/${name}`,
    `file:outside/${name}`,
    `kb/../outside/${name}`,
    `${'kb/'.repeat(900)}${name}`,
    `${'x'.repeat(5000)}/${name}`,
    `kb/${name}x`,
  ];
  return [
    ...leaving.map((path) => ({ path, leaves: true })),
    ...staying.map((path) => ({ path, leaves: false })),
  ];
}

/** Links in the root: name, target, and whether the target is outside. `%` stands for the file's name. */
export function links(outside) {
  return [
    { link: 'file-link-%', target: `${outside}/%`, leaves: true },
    { link: 'relative-link-%', target: '../outside/%', leaves: true },
    { link: 'chain-1-%', target: 'chain-2-%', leaves: true },
    { link: 'chain-2-%', target: 'chain-3-%', leaves: true },
    { link: 'chain-3-%', target: `${outside}/%`, leaves: true },
    { link: 'folder-link', target: outside, behind: '/%', leaves: true },
    { link: 'relative-folder', target: '../outside', behind: '/%', leaves: true },
    // By the text of the path this stays inside, by the link it does not.
    { link: 'kb/up', target: '..', behind: '/../outside/%', leaves: undefined },
    { link: 'parent', target: '..', behind: '/outside/%', leaves: true },
    { link: 'whole-disk', target: '/', behind: `${outside}/%`, leaves: true },
    { link: 'processes', target: '/proc', behind: '/self/cwd/%', leaves: true },
    { link: 'environment-%', target: '/proc/self/environ', leaves: true },
    { link: 'handles', target: '/proc/self/fd', behind: '/0', leaves: true },
    { link: 'dangling-%', target: `${outside}/absent/%`, leaves: true },
    { link: 'dangling-inside-%', target: 'absent/%', leaves: false },
    { link: 'loop-a-%', target: 'loop-b-%', leaves: false },
    { link: 'loop-b-%', target: 'loop-a-%', leaves: false },
    { link: 'self-loop', target: 'self-loop', behind: '/%', leaves: false },
  ];
}
