"""Planning: from the model of a launch to its costs and the cheapest of its plans. Pure: a chip is an argument."""
