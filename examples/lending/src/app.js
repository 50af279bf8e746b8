export default async ({ host, request }) => {
  const tools = await request('/odata/v1/Tools?$filter=lentTo ne null');
  host.append(...tools.value.map((tool) => Object.assign(document.createElement('p'), { textContent: `${tool.name}: ${tool.lentTo}` })));
};
