// The program of a contestant's process: it loads the contestant's module and says whether that worked. Ends with its parent.
process.on('disconnect', () => process.exit(0));

try {
  await import(process.argv[2]);
  process.send({ result: 'ready' });
} catch (error) {
  process.send({ unavailable: reasonOf(error) }, () => process.exit(0));
}

function reasonOf(error) {
  const missing = /Cannot find (?:package|module) '([^']+)'/.exec(error?.message)?.[1];
  if (missing && !missing.startsWith('/') && !missing.startsWith('file:'))
    return `${missing} is not installed: \`npm run setup\` in bench/ installs the peers`;
  return String(error?.message ?? error).split('\n')[0];
}
