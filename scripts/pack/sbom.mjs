import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { bundledPackages } from '../tool/bundled.mjs';
import { manifestFile, packageJson, root } from '../tool/project.mjs';

/** Licences by file name of the models that are shipped. */
const modelLicences = { 'all-MiniLM-L6-v2.gguf': 'Apache-2.0' };

/**
 * The software bill of materials of an edition, as CycloneDX 1.5: the npm packages that are installed with it or that
 * it contains, the sources compiled into the addon, and the models. The same input gives the same text.
 */
export function sbom(edition, models) {
  const { name, version, license } = packageJson();
  const bundled = bundledPackages
    .filter(({ editions }) => editions.includes(edition))
    .map(({ name }) => name);
  const components = [...npmPackages(bundled), ...vendoredSources(), ...models.map(modelComponent)];
  const reference = `pkg:npm/${name}@${version}`;
  const document = {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    serialNumber: serialNumber(JSON.stringify([edition, version, components])),
    version: 1,
    metadata: {
      component: {
        'bom-ref': reference,
        type: 'application',
        name,
        version,
        purl: reference,
        licenses: [{ license: { id: license } }],
        properties: [{ name: 'lorekeep:edition', value: edition }],
      },
    },
    components,
    dependencies: [{ ref: reference, dependsOn: components.map((component) => component['bom-ref']) }],
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** `bundled`: packages inside this package. */
function npmPackages(bundled) {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const components = Object.entries(packages)
    .filter(
      ([path, entry]) =>
        path !== '' &&
        ((!entry.dev && !entry.devOptional) || bundled.some((name) => path === `node_modules/${name}`)),
    )
    .map(([path, { version, license, integrity }]) => {
      const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
      const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
      return component({ type: 'library', name, version, purl, license, integrity });
    });
  // A package may be installed at several places in the same version.
  return [...new Map(components.map((each) => [each['bom-ref'], each])).values()];
}

function vendoredSources() {
  const { sources, data } = JSON.parse(readFileSync(manifestFile, 'utf8'));
  return [
    ...sources
      .filter(({ onlyFor, onDemand }) => onlyFor !== 'test' && !onDemand)
      .flatMap((source) => [source, ...source.parts.map((part) => ({ ...part, homepage: source.homepage }))])
      .map(({ name, version, license, homepage }) => native('library', name, version, license, homepage)),
    ...data.map(({ name, version, license }) => native('data', name, version, license)),
  ];
}

function native(type, name, version, license, homepage) {
  const encoded = [name, version].map((text) => encodeURIComponent(text)).join('@');
  return component({ type, name, version, purl: `pkg:generic/${encoded}`, license, homepage });
}

function modelComponent(path) {
  const file = basename(path);
  const sha256 = createHash('sha256')
    .update(readFileSync(join(root, path)))
    .digest('hex');
  return {
    'bom-ref': `file:${path}`,
    type: 'machine-learning-model',
    name: file.replace(/\.gguf$/, ''),
    version: `sha256-${sha256.slice(0, 16)}`,
    hashes: [{ alg: 'SHA-256', content: sha256 }],
    licenses: licences(modelLicences[file] ?? packageJson().license),
  };
}

function component({ type, name, version, purl, license, integrity, homepage }) {
  const sha512 = /^sha512-(.+)$/.exec(integrity ?? '')?.[1];
  return {
    'bom-ref': purl,
    type,
    name,
    version,
    purl,
    licenses: licences(license),
    ...(sha512 && { hashes: [{ alg: 'SHA-512', content: Buffer.from(sha512, 'base64').toString('hex') }] }),
    ...(homepage && { externalReferences: [{ type: 'website', url: homepage }] }),
  };
}

/** One licence is an id, several an expression. */
const licences = (text) =>
  / (OR|AND|WITH) /.test(text) ? [{ expression: text }] : [{ license: { id: text } }];

/** A UUID of the content, so that equal documents have equal numbers. */
function serialNumber(content) {
  const hex = createHash('sha256').update(content).digest('hex');
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `5${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`];
  return `urn:uuid:${[...parts, hex.slice(20, 32)].join('-')}`;
}
