"""Names of LangGraph and LangChain that have no public constant. A test says so when one is renamed."""

RESUMING = "__pregel_resuming"
"""The setting by which a graph tells those inside it that they go on from where they stopped. The agent is nested, to be
seen in the streams, in a graph that is not resumed: without it a sub-agent's turn would begin anew."""
BETWEEN, BEFORE_ID = "|", ":"
"""What stands in a `checkpoint_ns` between the graphs, and between a node's name and its id."""
ASKED = "__interrupt__"
"""The key of the interrupts in what a graph answers and streams."""
NODE, SPACE, AGENT = "langgraph_node", "langgraph_checkpoint_ns", "lc_agent_name"
"""Keys of a callback's metadata: the node, its `checkpoint_ns`, and the name of an agent of `create_agent`."""
TASK = "During task with name '"
"""How the note begins that is added to an exception of a node, before the node's name."""
