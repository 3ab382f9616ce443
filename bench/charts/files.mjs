// Writes the charts of trials' results as SVG files.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chartsOf } from './curves.mjs';
import { drawLineChart } from './line-chart.mjs';

/** @returns the paths written: a file per chart that has points */
export function drawCharts(trials, folder) {
  const charts = chartsOf(trials);
  if (charts.length > 0) mkdirSync(folder, { recursive: true });
  return charts.map((chart) => {
    const path = join(folder, `${chart.name}.svg`);
    writeFileSync(path, drawLineChart(chart));
    return path;
  });
}
