// Backpressure for clients that send requests without waiting for the responses. Called by server.ts.
import type { Socket } from "node:net";

/** Smaller pieces cost more for large bodies. A request has 27 bytes or more. */
const pieceBytes = 4 * 1024;
const none = Buffer.alloc(0);

/**
 * Node parses all that it has read of a connection, 64 KiB or 2,000 requests, at once. This passes it on in pieces, and
 * reads no more of the connection while `isFull()`. Returns the function to call when it may have changed. Call it in the
 * server's event "connection", after Node's own listener.
 */
export function readInPieces(socket: Socket, isFull: () => boolean): () => void {
  const [parse] = socket.listeners("data") as ((piece: Buffer) => void)[];
  if (parse === undefined) throw new Error("Node's HTTP server does not listen for the data of a connection");
  let rest: Buffer = none;
  let isHeld = false;
  const pass = () => {
    while (rest.length > 0 && !socket.destroyed && !socket.isPaused() && !isFull()) {
      const piece = rest.subarray(0, pieceBytes);
      rest = rest.subarray(pieceBytes);
      parse.call(socket, piece);
    }
    isHeld = isFull();
    if (isHeld || rest.length > 0) socket.pause();
  };
  socket.off("data", parse);
  socket.on("data", (chunk: Buffer) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    pass();
  });
  // Others resume the socket too: a handler that wants more of a body, for example.
  socket.on("resume", pass);
  return () => {
    if (!isHeld || isFull()) return;
    isHeld = false;
    if (!isPausedByNode(socket)) socket.resume();
  };
}

/** Node pauses a connection whose client does not take its responses, resumes it later, and asserts that nobody else does. */
const isPausedByNode = (socket: Socket & { readonly _paused?: boolean }) => socket._paused === true;
