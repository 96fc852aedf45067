// Starts `warpwatt lsp` and hands it CUDA files; everything else is the language server's.
"use strict";

const vscode = require("vscode");
const { LanguageClient, RevealOutputChannelOn } = require("vscode-languageclient/node");

/** @type {LanguageClient | undefined} */
let client;

function makeClient() {
  const [command, ...args] = vscode.workspace.getConfiguration("warpwatt").get("command", ["warpwatt", "lsp"]);
  return new LanguageClient(
    "warpwatt",
    "WarpWatt",
    // The editor starts this extension in trusted workspaces only (package.json), so all that it opens may be compiled.
    { command, args: [...args, "--trust", "/"] },
    {
      documentSelector: [
        { language: "cuda-cpp" },
        { language: "cuda" },
        { pattern: "**/*.{cu,cuh}" },
      ],
      synchronize: { configurationSection: "warpwatt" },
      revealOutputChannelOn: RevealOutputChannelOn.Never,
    },
  );
}

async function start() {
  client = makeClient();
  try {
    await client.start();
  } catch (error) {
    const choice = await vscode.window.showErrorMessage(
      `WarpWatt does not start (${error.message}). Install it with: pip install 'warpwatt[server]'`,
      "Settings",
    );
    if (choice) {
      await vscode.commands.executeCommand("workbench.action.openSettings", "warpwatt.command");
    }
  }
}

async function stop() {
  const running = client;
  client = undefined;
  if (running && running.needsStop()) {
    await running.stop();
  }
}

async function showReport() {
  const editor = vscode.window.activeTextEditor;
  if (editor && client) {
    await vscode.commands.executeCommand("warpwatt.showReport", editor.document.uri.toString());
  }
}

/** @param {vscode.ExtensionContext} context */
async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("warpwatt.report", showReport),
    vscode.commands.registerCommand("warpwatt.restart", async () => {
      await stop();
      await start();
    }),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (event.affectsConfiguration("warpwatt.command")) {
        await stop();
        await start();
      }
    }),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
