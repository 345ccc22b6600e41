// Makes etcd drop all old versions: a watch from one of them must list again. For tests of caches.

export async function compact(etcd: string): Promise<void> {
  const post = async (path: string, body: object) => {
    const answer = await fetch(`${etcd}/v3/kv/${path}`, { method: "POST", body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`etcd: ${answer.status} ${await answer.text()}`);
    return answer.json() as Promise<{ header: { revision: string } }>;
  };
  const { header } = await post("range", { key: Buffer.from("/").toString("base64") });
  await post("compaction", { revision: header.revision, physical: true });
}
