"""Chat models: `openai:NAME`, the embedded rule-based `offline`, or any LangChain chat model."""
