#include "cluster/status/status_server.h"

namespace tensorbraid {

// Reads report.json once a second and draws it. Text from the report goes into the page as text only, never as HTML,
// since names of nodes come from clients.
const char kStatusPage[] = R"html(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>Tensorbraid cluster</title>
<style>
:root { --fg: #1d2433; --dim: #667085; --line: #d5dae3; --bg: #f7f8fa; --card: #fff; --ok: #1a7f4b; --bad: #c0322b;
        --warn: #b26a00; --flow: #3b6fd4; }
@media (prefers-color-scheme: dark) {
  :root { --fg: #e6e9ef; --dim: #98a2b3; --line: #343b49; --bg: #14171d; --card: #1c2129; --ok: #4cc38a; --bad: #ff7b72;
          --warn: #f2b155; --flow: #7aa5ff; }
}
body { margin: 0 auto; max-width: 1200px; padding: 16px; font: 14px/1.45 system-ui, sans-serif; color: var(--fg);
       background: var(--bg); }
h1 { font-size: 18px; margin: 0 12px 0 0; display: inline-block; }
h2 { font-size: 14px; margin: 0 0 8px; }
#summary { color: var(--dim); }
#problem { display: none; background: var(--bad); color: #fff; padding: 6px 10px; border-radius: 6px; margin: 8px 0; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 12px; margin-top: 12px;
          overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th { text-align: left; color: var(--dim); font-weight: 500; }
th, td { padding: 3px 12px 3px 0; white-space: nowrap; }
td.number, th.number { text-align: right; }
td.text { white-space: normal; }
.up { color: var(--ok); } .bad { color: var(--bad); } .warn { color: var(--warn); } .dim { color: var(--dim); }
svg { width: 100%; height: auto; display: block; }
svg text { fill: var(--fg); font: 12px system-ui, sans-serif; }
svg text.dim { fill: var(--dim); font-size: 11px; paint-order: stroke; stroke: var(--card); stroke-width: 3px; }
.task { fill: var(--card); stroke: var(--ok); stroke-width: 2; } .task.bad { stroke: var(--bad); }
.task.warn { stroke: var(--warn); }
.flow { stroke: var(--flow); stroke-opacity: .55; fill: none; stroke-linecap: round; }
.wait { stroke: var(--bad); stroke-width: 2; stroke-dasharray: 6 4; fill: none; marker-end: url(#arrow); }
#arrow path { fill: var(--bad); }
.axis { stroke: var(--line); }
</style>
</head>
<body>
<h1>Tensorbraid cluster</h1><span id="summary">loading</span>
<div id="problem"></div>
<section><h2>Tasks and traffic</h2><svg id="graph" role="img" aria-label="tasks and the traffic between them"></svg></section>
<section><h2>Tasks that wait for others</h2><div id="waits"></div></section>
<section><h2>Steps per second</h2><svg id="rates" role="img" aria-label="steps per second of each task"></svg></section>
<section><h2>All tasks</h2><table id="tasks"></table></section>
<section id="tables" hidden><h2>Growing tables</h2><table></table></section>
<section id="accelerators" hidden><h2>Accelerators</h2><table></table><div></div></section>
<div id="sessions"></div>
<script>
"use strict";
const SVG = "http://www.w3.org/2000/svg";
const colors = ["#3b6fd4", "#d9822b", "#1a7f4b", "#a03cc0", "#c0322b", "#0f8b8d", "#8a6d3b", "#5b5fc7"];
let previous = new Map();  // the report before: maps of tasks, by the number of their cluster ("" for the server's own)
let clock = null;     // up_seconds of the asked task in the last report

function add(parent, tag, attributes, text) {
  const svg = parent.namespaceURI === SVG;
  const element = svg ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  parent.appendChild(element);
  return element;
}
function bytes(n) {
  for (const unit of ["B", "kB", "MB", "GB"]) { if (n < 1000) return (n < 10 ? n.toFixed(1) : n.toFixed(0)) + " " + unit; n /= 1000; }
  return n.toFixed(1) + " TB";
}
function number(n) { return n >= 100 ? Math.round(n).toLocaleString("en") : n.toFixed(n >= 10 ? 1 : 2); }
function seconds(s) { return s < 120 ? number(s) + " s" : s < 7200 ? Math.round(s / 60) + " min" : (s / 3600).toFixed(1) + " h"; }
const isPs = (name) => name.startsWith("ps/");
function look(task) { return task.state !== "up" ? "bad" : task.straggler ? "warn" : ""; }

// How much a counter has grown per second of the task's own clock since the report before; null if that is unknown.
// `earlier` has the tasks of the report before.
function perSecond(earlier, task, value) {
  const before = earlier && earlier.get(task.task);
  if (!before || before.state !== "up" || task.up_seconds <= before.up_seconds) return null;
  const grown = value(task) - value(before);
  return grown < 0 ? null : grown / (task.up_seconds - before.up_seconds);
}

// The waits between tasks: {from, to, text}.
function waitEdges(report) {
  const edges = new Map();
  for (const step of report.blocked) {
    const put = (from, to) => { if (from && to && from !== to) edges.set(from + ">" + to, {from, to}); };
    for (const task of step.unfinished_tasks) put(step.master, task);
    for (const wait of step.waits) {
      put(wait.task, wait.peer);
      if (!wait.peer) for (const task of step.cause_tasks) put(wait.task, task);
    }
  }
  return [...edges.values()];
}

function drawGraph(report) {
  const graph = document.getElementById("graph");
  graph.replaceChildren();
  const rows = [report.tasks.filter((t) => isPs(t.task)), report.tasks.filter((t) => !isPs(t.task))].filter((r) => r.length);
  const width = Math.max(900, 150 * Math.max(...rows.map((r) => r.length)));
  const height = 90 + 170 * (rows.length - 1);
  graph.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const marker = add(add(graph, "defs"), "marker", {id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 6, markerHeight: 6, orient: "auto"});
  add(marker, "path", {d: "M0,0 L8,4 L0,8 z"});
  const places = new Map();
  rows.forEach((row, y) => row.forEach((task, x) => {
    places.set(task.task, {x: width * (x + 0.5) / row.length, y: 45 + 170 * y});
  }));
  const curve = (from, to, bend) => {
    const a = places.get(from), b = places.get(to);
    const dx = b.x - a.x, dy = b.y - a.y, length = Math.hypot(dx, dy) || 1;
    const mx = (a.x + b.x) / 2 - dy / length * bend, my = (a.y + b.y) / 2 + dx / length * bend;
    // Ends at the border of the boxes.
    const cut = (p, q) => { const ex = q.x - p.x, ey = q.y - p.y, f = Math.min(1, 1 / Math.max(Math.abs(ex) / 66, Math.abs(ey) / 26, 0.01)); return {x: p.x + ex * f, y: p.y + ey * f}; };
    const m = {x: mx, y: my}, s = cut(a, m), e = cut(b, m);
    return {d: `M${s.x},${s.y} Q${mx},${my} ${e.x},${e.y}`, x: 0.25 * s.x + 0.5 * mx + 0.25 * e.x, y: 0.25 * s.y + 0.5 * my + 0.25 * e.y};
  };
  for (const task of report.tasks) {
    for (const traffic of task.received) {
      if (!places.has(traffic.from) || traffic.tensor_bytes === 0) continue;
      const rate = perSecond(previous.get(""), task, (t) => (t.received.find((r) => r.from === traffic.from) || {tensor_bytes: 0}).tensor_bytes);
      const size = rate === null ? 0 : rate;
      const path = curve(traffic.from, task.task, 24);
      add(graph, "path", {class: "flow", d: path.d, "stroke-width": 1 + Math.min(9, Math.log10(1 + size / 1000) * 2),
                          "data-from": traffic.from, "data-to": task.task});
      if (size > 0) add(graph, "text", {class: "dim", x: path.x, y: path.y, "text-anchor": "middle"}, bytes(size) + "/s");
    }
  }
  for (const edge of waitEdges(report)) {
    if (!places.has(edge.from) || !places.has(edge.to)) continue;
    add(graph, "path", {class: "wait", d: curve(edge.from, edge.to, -18).d, "data-from": edge.from, "data-to": edge.to});
  }
  for (const task of report.tasks) {
    const at = places.get(task.task);
    const box = add(graph, "g", {"data-task": task.task});
    add(box, "rect", {class: "task " + look(task), x: at.x - 62, y: at.y - 24, width: 124, height: 48, rx: 7});
    add(box, "text", {x: at.x, y: at.y - 4, "text-anchor": "middle"}, task.task);
    const detail = task.state !== "up" ? task.state : isPs(task.task) ? bytes(task.variable_bytes) + " of variables"
                 : number(task.steps_per_second) + " steps/s" + (task.straggler ? ", slow" : "");
    add(box, "text", {class: "dim", x: at.x, y: at.y + 13, "text-anchor": "middle"}, detail);
  }
}

function drawWaits(report, waits) {
  waits.replaceChildren();
  const silent = report.tasks.filter((t) => t.state === "no answer" || t.state === "lost");
  for (const task of silent) add(waits, "div", {class: "bad"}, `${task.task} (${task.address}): ${task.problem || task.state}`);
  for (const step of report.blocked) {
    const box = add(waits, "div", {class: "blocked", "data-master": step.master});
    add(box, "b", {}, `${step.master}, step ${step.number}`);
    add(box, "span", {}, ` has run for ${seconds(step.seconds)}; unfinished on ${step.unfinished_tasks.join(", ")}`);
    if (step.cause) add(box, "div", {class: "bad"}, step.cause);
    for (const wait of step.waits) {
      add(box, "div", {class: "dim"}, `${wait.task} has waited ${seconds(wait.seconds)} for ${wait.text}`);
    }
  }
  if (!waits.children.length) add(waits, "div", {class: "dim"}, "No step has run for more than a second.");
}

function drawRates(report) {
  const chart = document.getElementById("rates");
  chart.replaceChildren();
  const width = 1100, height = 200, left = 56, bottom = 22, span = 120;
  chart.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const lines = [];
  for (const task of report.tasks) {
    if (task.state !== "up" || task.steps === 0) continue;
    const counts = task.history.map((c) => ({ago: c.seconds, steps: c.steps}));
    counts.push({ago: 0, steps: task.steps});
    const points = [];
    for (let i = 1; i < counts.length; ++i) {
      const time = counts[i - 1].ago - counts[i].ago;
      if (time < 0.3) continue;
      const rate = (counts[i].steps - counts[i - 1].steps) / time;
      // The rate holds over the whole interval.
      points.push({ago: Math.min(span, counts[i - 1].ago), rate}, {ago: counts[i].ago, rate});
    }
    lines.push({task: task.task, points: points.filter((p) => p.ago <= span)});
  }
  const most = Math.max(1, ...lines.flatMap((l) => l.points.map((p) => p.rate)));
  const x = (ago) => left + (width - left - 110) * (1 - ago / span), y = (rate) => 10 + (height - bottom - 10) * (1 - rate / most);
  for (const share of [0, 0.5, 1]) {
    add(chart, "line", {class: "axis", x1: left, x2: x(0), y1: y(share * most), y2: y(share * most)});
    add(chart, "text", {class: "dim", x: left - 6, y: y(share * most) + 4, "text-anchor": "end"}, number(share * most));
  }
  for (const ago of [120, 90, 60, 30, 0]) add(chart, "text", {class: "dim", x: x(ago), y: height - 5, "text-anchor": "middle"}, ago ? `-${ago} s` : "now");
  lines.forEach((line, i) => {
    const color = colors[i % colors.length];
    add(chart, "polyline", {points: line.points.map((p) => `${x(p.ago)},${y(p.rate)}`).join(" "), fill: "none", stroke: color, "stroke-width": 1.8, "data-task": line.task});
    add(chart, "text", {x: x(0) + 12, y: 20 + 16 * i, style: `fill:${color}`}, line.task);
  });
}

function drawTasks(report, table) {
  const earlier = previous.get(report.cluster);
  table.replaceChildren();
  const head = add(add(table, "thead"), "tr");
  const columns = [["task"], ["address"], ["state"], ["steps", 1], ["steps/s", 1], ["busy", 1], ["CPU", 1], ["memory", 1],
                   ["variables", 1], ["received", 1], ["sent", 1], ["gradient age", 1], ["up", 1]];
  for (const [name, right] of columns) add(head, "th", right ? {class: "number"} : {}, name);
  const body = add(table, "tbody");
  const share = (rate) => rate === null ? "" : Math.round(100 * rate) + " %";
  const flow = (rate) => rate === null ? "" : bytes(rate) + "/s";
  const sum = (rates) => rates.every((r) => r === null) ? null : rates.reduce((a, b) => a + (b || 0), 0);
  for (const task of report.tasks) {
    const row = add(body, "tr", {"data-task": task.task});
    const cell = (text, right, style) => add(row, "td", {class: (right ? "number " : "") + (style || "")}, text);
    cell(task.task);
    cell(task.address, false, "dim");
    cell(task.state + (task.straggler ? ", straggler" : ""), false, task.state === "up" ? (task.straggler ? "warn" : "up") : "bad");
    if (task.state !== "up") { add(row, "td", {class: "text dim", colspan: columns.length - 3}, task.problem); continue; }
    cell(task.steps ? number(task.steps) : "", true);
    cell(task.steps ? number(task.steps_per_second) : "", true);
    cell(share(perSecond(earlier, task, (t) => t.busy_seconds)), true);
    cell(share(perSecond(earlier, task, (t) => t.cpu_seconds)), true);
    cell(bytes(task.memory_bytes), true);
    cell(task.variables ? `${task.variables} (${bytes(task.variable_bytes)})` : "", true);
    const got = (t, from) => (t.received.find((r) => r.from === from) || {tensor_bytes: 0}).tensor_bytes;
    cell(flow(sum(task.received.map((r) => perSecond(earlier, task, (t) => got(t, r.from))))), true);
    cell(flow(sum(report.tasks.filter((t) => t.state === "up" && t.task !== task.task).map((other) => perSecond(earlier, other, (t) => got(t, task.task))))), true);
    const age = task.staleness || {accepted: 0, parts: 0};
    cell(age.accepted ? number(age.age_sum / age.accepted) : isPs(task.task) && age.parts ? "~" + number(age.overtaken_sum / age.parts) : "", true);
    cell(seconds(task.up_seconds), true);
  }
}

// The accelerators that tasks have started, and the programs that are being compiled for them.
function drawAccelerators(report) {
  const section = document.getElementById("accelerators");
  const table = section.querySelector("table"), compiling = section.querySelector("div");
  table.replaceChildren();
  compiling.replaceChildren();
  const head = add(add(table, "thead"), "tr"), body = add(table, "tbody");
  for (const name of ["task", "accelerator"]) add(head, "th", {}, name);
  for (const name of ["tensors", "in use", "limit", "programs", "compiled in", "runs on the host"]) add(head, "th", {class: "number"}, name);
  for (const task of report.tasks) {
    if (task.state !== "up") continue;
    task.accelerators.forEach((accelerator, i) => {
      const row = add(body, "tr");
      add(row, "td", {}, task.task);
      add(row, "td", {}, accelerator.device);
      for (const size of [accelerator.tensor_bytes, accelerator.memory_bytes, accelerator.memory_limit]) add(row, "td", {class: "number"}, size ? bytes(size) : "");
      add(row, "td", {class: "number"}, i ? "" : String(task.programs));
      add(row, "td", {class: "number"}, i ? "" : seconds(task.compile_seconds));
      add(row, "td", {class: "number"}, i ? "" : String(task.host_runs));
    });
    for (const compile of task.compiling) add(compiling, "div", {}, `${task.task} has compiled ${compile.program} for ${seconds(compile.seconds)}`);
  }
  section.hidden = !body.children.length && !compiling.children.length;
}

// The growing tables of all tasks, a row for each table or part of one.
function drawTables(report) {
  const section = document.getElementById("tables"), table = section.querySelector("table");
  table.replaceChildren();
  const head = add(add(table, "thead"), "tr"), body = add(table, "tbody");
  for (const name of ["task", "table"]) add(head, "th", {}, name);
  for (const name of ["rows", "memory", "grown in a minute", "rows made", "rows evicted", "lookups with a row", "keys that wait"]) add(head, "th", {class: "number"}, name);
  for (const task of report.tasks) {
    if (task.state !== "up") continue;
    for (const t of task.tables) {
      const row = add(body, "tr", {"data-table": t.table});
      add(row, "td", {}, task.task);
      add(row, "td", {}, t.table);
      const count = (n) => n.toLocaleString("en");
      for (const text of [count(t.rows), bytes(t.bytes), count(t.growth_per_minute), count(t.admissions), t.evictions ? count(t.evictions) : "",
                          t.lookups ? Math.round(100 * t.hits / t.lookups) + " %" : "", t.waiting ? count(t.waiting) : ""]) {
        add(row, "td", {class: "number"}, text);
      }
    }
  }
  section.hidden = !body.children.length;
}

// The clusters that sessions brought, each in a section of its own.
function drawSessions(report) {
  const sections = document.getElementById("sessions");
  sections.replaceChildren();
  for (const cluster of report.session_clusters) {
    const section = add(sections, "section", {"data-cluster": cluster.cluster});
    const master = cluster.tasks.find((t) => t.task === cluster.master);
    add(section, "h2", {}, `Cluster ${cluster.cluster} of a session, whose master is ${cluster.master}` + (master ? ` (${master.address})` : ""));
    add(section, "div", {class: "dim"}, answering(cluster));
    drawTasks(cluster, add(section, "table"));
    drawWaits(cluster, add(section, "div"));
  }
}

function answering(report) {
  const step = report.global_step === undefined ? "" : `global step ${Math.round(report.global_step).toLocaleString("en")}, `;
  const up = report.tasks.filter((t) => t.state === "up").length;
  return `${step}${up} of ${report.tasks.length} tasks answer`;
}

function draw(report) {
  const asked = report.tasks.find((t) => t.task === report.asked);
  if (asked && asked.up_seconds === clock) return;  // the same report as before
  clock = asked && asked.up_seconds;
  document.getElementById("summary").textContent = `${answering(report)}, asked by ${report.asked}`;
  drawGraph(report);
  drawWaits(report, document.getElementById("waits"));
  drawRates(report);
  drawTasks(report, document.getElementById("tasks"));
  drawTables(report);
  drawAccelerators(report);
  drawSessions(report);
  previous = new Map([report, ...report.session_clusters].map((c) => [c.cluster, new Map(c.tasks.map((t) => [t.task, t]))]));
}

async function update() {
  const problem = document.getElementById("problem");
  try {
    const answer = await fetch("report.json");
    if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
    draw(await answer.json());
    problem.style.display = "none";
  } catch (error) {
    problem.textContent = `cannot read the report: ${error.message}`;
    problem.style.display = "block";
  }
  setTimeout(update, 1000);
}
update();
</script>
</body>
</html>
)html";

}  // namespace tensorbraid
