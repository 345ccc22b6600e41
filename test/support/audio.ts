// WAV files for tests. Called by tests that upload.

/** A WAV file of 16-bit PCM: a 220 Hz tone, so that no two lengths have the same bytes. */
export function wav(options: { durationMs?: number; sampleRateHz?: number; channels?: number } = {}): Buffer {
  const { durationMs = 500, sampleRateHz = 16_000, channels = 1 } = options;
  const frames = Math.round((durationMs * sampleRateHz) / 1000);
  const data = Buffer.alloc(frames * channels * 2);
  for (let frame = 0; frame < frames; frame++) {
    const value = Math.round(8_000 * Math.sin((2 * Math.PI * 220 * frame) / sampleRateHz));
    for (let channel = 0; channel < channels; channel++)
      data.writeInt16LE(value, (frame * channels + channel) * 2);
  }
  const header = Buffer.alloc(44);
  header.write("RIFF", 0, "latin1");
  header.writeUInt32LE(36 + data.length, 4);
  header.write("WAVEfmt ", 8, "latin1");
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(sampleRateHz, 24);
  header.writeUInt32LE(sampleRateHz * channels * 2, 28);
  header.writeUInt16LE(channels * 2, 32);
  header.writeUInt16LE(16, 34);
  header.write("data", 36, "latin1");
  header.writeUInt32LE(data.length, 40);
  return Buffer.concat([header, data]);
}
