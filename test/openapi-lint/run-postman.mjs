/**
 * Runs the reads of a gateway's Postman collection by Newman: `node run-postman.mjs <address> <token>`. Exit
 * code 1 where one of them is not answered with 200.
 */
import newman from 'newman';

const [address = '', token = ''] = process.argv.slice(2);
const answer = await fetch(`${address}/postman.json`, { headers: { authorization: `Bearer ${token}` } });
const collection = await answer.json();
const isRead = ({ request: { method, url } }) => method === 'GET' && !url.raw.includes(':');
const exec = ["pm.test('is answered', () => pm.expect(pm.response.code).to.equal(200));"];
const run = {
  ...collection,
  item: collection.item.map((folder) => ({
    ...folder,
    item: folder.item.filter((item) => isRead(item) && !item.request.url.raw.endsWith('/teapot')),
  })),
  event: [{ listen: 'test', script: { type: 'text/javascript', exec } }],
};

newman.run(
  {
    collection: run,
    envVar: [
      { key: 'token', value: token },
      { key: 'server', value: address },
    ],
  },
  (fault, { run: { stats, failures } }) => {
    for (const { error, source } of failures) console.error(`${source?.name}: ${error.message}`);
    if (fault || failures.length > 0) process.exit(1);
    console.log(`the Postman collection: ${stats.requests.total} reads are answered`);
  },
);
