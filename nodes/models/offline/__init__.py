"""The embedded baseline: rule-based speakers behind LangChain's chat model interface, without a language model."""
