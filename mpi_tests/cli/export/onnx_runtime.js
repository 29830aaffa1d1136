// onnx_runtime.js NAME...: NAME.onnx in onnxruntime against NAME.truth.csv, to 1e-12 relative to the
// larger of 1 and a number.
const fs = require("fs");
const runtime = require("onnxruntime-node");

const read = (path) => fs.readFileSync(path, "utf8").trim().split("\n").map((line) => line.split(",").map(Number));

async function check(name) {
    const session = await runtime.InferenceSession.create(name + ".onnx");
    const rows = read(name === "table" ? "new_holes.csv" : "new.csv");
    const inputs = new runtime.Tensor("float64", Float64Array.from(rows.flat()), [rows.length, rows[0].length]);
    const found = await session.run({ inputs });
    const values = (found.outputs || found.coordinates).data, truth = read(name + ".truth.csv").flat();
    if (values.length !== truth.length) throw new Error(`${name}: ${values.length} numbers, not ${truth.length}`);
    const error = Math.max(...truth.map((t, k) => Math.abs(t - values[k]) / Math.max(1, Math.abs(t))));
    if (!(error <= 1e-12)) throw new Error(`${name}: differs by ${error}`);
}

(async () => {
    for (const name of process.argv.slice(2)) await check(name);
})().catch((error) => {
    console.error(error.message);
    process.exit(1);
});
