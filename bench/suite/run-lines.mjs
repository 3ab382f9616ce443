// The lines of a page about the run that its numbers come from.

/** @param trials published records; they may come from several runs, which are then said one by one */
export function runLines(trials) {
  const runs = new Map();
  for (const trial of trials) {
    const { machine, versions, preset } = trial;
    const key = JSON.stringify({ machine, versions, preset, day: trial.date.slice(0, 10) });
    runs.set(key, [...(runs.get(key) ?? []), trial]);
  }
  return [...runs.values()].map((own) => paragraph(own, runs.size > 1)).join('\n\n');
}

function paragraph(trials, several) {
  const [{ machine, versions, preset, date }] = trials;
  const peers = Object.entries(versions.peers).filter(([, version]) => version);
  const loads = trials.flatMap(({ load }) => load);
  const notOk = trials
    .filter(({ status }) => status !== 'ok')
    .map(({ name, status }) => `${name}: ${status}`);
  return [
    several ? `Trials ${trials.map(({ name }) => name).join(', ')}: ` : '',
    `lorekeep ${versions.lorekeep}, ${date.slice(0, 10)}, ${preset} sizes. `,
    `${machine.cores} cores of ${machine.cpu}, ${machine.memoryGiB} GiB, ${machine.system}, Node.js ${machine.node}; `,
    `load average ${Math.min(...loads)} to ${Math.max(...loads)}. `,
    peers.length > 0 ? `Peers: ${peers.map(([name, version]) => `${name} ${version}`).join(', ')}.` : '',
    notOk.length > 0 ? ` Not all went well: ${notOk.join('; ')}.` : '',
  ].join('');
}
