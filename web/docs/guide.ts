// The guides are text: all that they load is how they look.
import '../src/styles/tokens.css';
import './guide.css';
